# SPDX-License-Identifier: Apache-2.0
"""The events of the UEs' connections as nr-link writes them (raw/radio-events.jsonl): an object a
line, with the instant, the UE, the kind, and the fields of the kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values
from ddu.readers.logs import content_of, table_of, whole_lines

FILE = "radio-events.jsonl"
_FIRST = ("utc_ns", "ue", "kind")


def read_radio_events(raw: Path) -> pd.DataFrame | None:
    """Return a row for each event, in order of time, null where its kind has no such field; None
    if there is none. Raises UnreadableInput that names the line.
    """
    file = raw / FILE
    if not file.exists() or not file.stat().st_size:
        return None
    text, _ = whole_lines(content_of(file))  # a last line that is cut off was never complete
    events = [_event(file, number, line) for number, line in enumerate(text.splitlines(), start=1)]
    if not events:
        return None
    table = table_of(events, _FIRST).astype({"utc_ns": "int64", "ue": "int64"})
    return table.sort_values("utc_ns", kind="stable", ignore_index=True)


def _event(file: Path, number: int, line: str) -> Values:
    try:
        event: dict[str, Any] = json.loads(line)
        if nested := [key for key, value in event.items() if isinstance(value, (list, dict))]:
            raise TypeError(f"{nested[0]} is not one value")
        flags = {key: int(value) for key, value in event.items() if isinstance(value, bool)}
        return {
            **event,
            **flags,
            "utc_ns": _of_64_bits(event["utc_ns"]),
            "ue": _of_64_bits(event["ue"]),
            "kind": str(event["kind"]),
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        rule = f"not an event of a UE's connection ({type(error).__name__}: {error})"
        fix = "move the file away to analyse the run without"
        raise UnreadableInput(file, rule, fix, line=number) from None


def _of_64_bits(written: Any) -> int:
    whole = int(written)
    if abs(whole) >= 2**63:
        raise OverflowError(f"{whole} has more than 64 bits")
    return whole
