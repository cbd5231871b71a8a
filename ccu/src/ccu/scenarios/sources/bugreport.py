# SPDX-License-Identifier: Apache-2.0
"""The signal strengths in the log buffers of Android's bugreport, zipped or as text.

Each is in a line of `logcat -v threadtime`, which has month, day and time. A bugreport's dump of
telephony.registry is a single instant, which is not enough for a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from ddu.console.android_bugreport import blocks

_SIGNAL = re.compile(
    rb"^(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,9}) [^\n]*?(SignalStrength:\{[^\n]*)$", re.M
)
_PHONE = re.compile(r"\[PHONE(\d)\]")
_LEAP_YEAR = 2000  # Logs have no year, and only differences matter.


def stamped_signals(file: Path) -> Iterator[str]:
    """Yield a line of seconds and one with the SignalStrength, for the SIM with the most of them.

    Raises RefusedError as `blocks` does.
    """
    signals: list[tuple[float, str, str]] = []
    for block in blocks(file):
        if b"SignalStrength:{" not in block:
            continue
        for line in _SIGNAL.finditer(block):
            text = line[7].decode(errors="replace")
            phone = _PHONE.search(text)
            signals.append((_seconds(line), phone[1] if phone else "", text))
    phones = [phone for _, phone, _ in signals]
    most = max(phones, key=phones.count, default="")
    for at_s, _, text in sorted(one for one in signals if one[1] == most):
        yield f"{at_s + 1e9:.3f}\n"
        yield f"{text}\n"


def _seconds(line: re.Match[bytes]) -> float:
    month, day, hour, minute, second = (int(line[part]) for part in range(1, 6))
    try:
        at = datetime(_LEAP_YEAR, month, day, hour, minute, min(second, 59), tzinfo=timezone.utc)
    except ValueError:
        return 0.0
    start = datetime(_LEAP_YEAR, 1, 1, tzinfo=timezone.utc)
    return (at - start).total_seconds() + float(b"0." + line[6])
