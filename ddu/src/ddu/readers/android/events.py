# SPDX-License-Identifier: Apache-2.0
"""The changes between two readings of a phone: handovers, technology, service, screen."""

from __future__ import annotations

import pandas as pd

from ddu.readers.android.cells import NSA, TECHNOLOGIES

COLUMNS = ("utc_ns", "ue", "event", "before", "after")
_WATCHED = {
    "mac_technology": "technology",
    "mac_pci": "handover",
    "mac_band": "band",
    "mac_in_sync": "service",
    "phone_screen_on": "screen",
    "phone_thermal_status": "thermal status",
}


def events_of(readings: pd.DataFrame) -> pd.DataFrame:
    """One row per change, at the reading that shows it first. A missing value is not a
    change: the next known one is compared with the last."""
    rows = [
        row
        for column, event in _WATCHED.items()
        if column in readings
        for row in _changes(readings, column, event)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"utc_ns": "int64", "ue": "int64"})
    return table.sort_values("utc_ns", kind="stable", ignore_index=True)


def fell_back(readings: pd.DataFrame) -> str | None:
    """Return a sentence if the phone was on 5G for a part of the time only."""
    if "mac_technology" not in readings:
        return None
    known = readings["mac_technology"].dropna()
    without = int((known < NSA).sum())
    if not 0 < without < len(known):
        return None
    return (
        f"The phone fell back to LTE, or lost its network, in {without} of {len(known)} readings "
        "(table events)."
    )


def _changes(readings: pd.DataFrame, column: str, event: str) -> list[dict[str, object]]:
    known = readings[readings[column].notna()]
    before = known[column].shift()
    changed = known[(known[column] != before) & before.notna()]
    return [
        {
            "utc_ns": int(readings["utc_ns"].loc[index]),
            "ue": int(readings["ue"].loc[index]),
            "event": event,
            "before": _named(column, before.loc[index]),
            "after": _named(column, known[column].loc[index]),
        }
        for index in changed.index
    ]


def _named(column: str, value: float) -> str:
    if column == "mac_technology":
        return TECHNOLOGIES.get(int(value), "?")
    if column == "mac_in_sync":
        return "in service" if value else "out of service"
    if column == "phone_screen_on":
        return "on" if value else "off"
    return f"{value:g}"
