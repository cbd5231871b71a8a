# SPDX-License-Identifier: Apache-2.0
"""The signal strengths that the log buffers of Android's bugreport tell, zipped or as text.

Each stands in a line of `logcat -v threadtime`, which has month, day and time. A bugreport's dump
of telephony.registry is one instant, of which no scenario can be made.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import IO

from ccu.errors import Refused

_ZIP_MAGIC = b"PK\x03\x04"
_HEADER = b"== dumpstate: "
_MOST_BYTES = 512 << 20
"""Of text: a phone's has some 20 to 100 MB, whatever its zip pretends."""
_BLOCK_BYTES = 4 << 20
_TEXT_NAME = re.compile(
    r"^(?:bugreport|dumpstate)(?!_log|_board)[\w.+-]*\.(?:txt|log)$", re.IGNORECASE
)
"""Samsung's is dumpState_….log."""
_SIGNAL = re.compile(
    rb"^(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,9}) [^\n]*?(SignalStrength:\{[^\n]*)$", re.M
)
_PHONE = re.compile(r"\[PHONE(\d)\]")
_LEAP_YEAR = 2000  # Logs have no year, and only differences count.


def is_bugreport(file: Path) -> bool:
    """By its first bytes: a zip, or the text's header."""
    with file.open("rb") as stream:
        head = stream.read(4096)
    return head.startswith(_ZIP_MAGIC) or _HEADER in head


def stamped_signals(file: Path) -> Iterator[str]:
    """A line of seconds and one with the SignalStrength, of the SIM that is told of most.

    Raises Refused for what is no whole zip, has no bugreport in it, or more than 512 MiB of text.
    """
    found: list[tuple[float, str, str]] = []
    for block in _blocks(file):
        if b"SignalStrength:{" not in block:
            continue
        for line in _SIGNAL.finditer(block):
            text = line[7].decode(errors="replace")
            phone = _PHONE.search(text)
            found.append((_seconds(line), phone[1] if phone else "", text))
    phones = [phone for _, phone, _ in found]
    most = max(phones, key=phones.count, default="")
    for at_s, _, text in sorted(one for one in found if one[1] == most):
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


def _blocks(file: Path) -> Iterator[bytes]:
    """The text in blocks of whole lines."""
    try:
        with _text_of(file) as stream:
            rest, count = b"", 0
            while part := stream.read(_BLOCK_BYTES):
                count += len(part)
                if count > _MOST_BYTES:
                    raise Refused(
                        f"{file}: has more than {_MOST_BYTES >> 20} MiB of text; cut out the lines "
                        "that have a SignalStrength"
                    )
                end = part.rfind(b"\n") + 1
                if end:
                    yield rest + part[:end]
                rest = part[end:] if end else b""
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise Refused(
            f"{file}: not a whole zip archive ({error}); copy it from the phone again"
        ) from None


@contextmanager
def _text_of(file: Path) -> Iterator[IO[bytes]]:
    with file.open("rb") as plain:
        if plain.read(len(_ZIP_MAGIC)) != _ZIP_MAGIC:
            plain.seek(0)
            yield plain
            return
        with zipfile.ZipFile(plain) as archive:
            named = [
                one
                for one in archive.infolist()
                if _TEXT_NAME.match(PurePosixPath(one.filename).name)
            ]
            if not named:
                raise Refused(f"{file}: no bugreport-*.txt in this zip; give a bugreport's")
            with archive.open(max(named, key=lambda one: one.file_size)) as packed:
                yield packed
