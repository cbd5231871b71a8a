# SPDX-License-Identifier: Apache-2.0
"""The numbers of a run among several cells: `mobility` of summary.json."""

from __future__ import annotations

import pandas as pd

_EVENT_OF_COUNT = {
    "radio_link_failures_count": "radio_link_failure",
    "connections_lost_count": "connection_lost",
}
_CLASSES = ("too_late", "too_early", "wrong_cell", "coverage")
"""The classes of re-establishments: those of TS 38.300 clause 15.5.2, and `coverage` in the cell
that was lost."""
_MEANS = (
    "interruption_ms", "recovery_ms", "throughput_before_bps", "throughput_during_bps",
    "throughput_after_bps", "rtt_before_ms", "rtt_during_ms", "rtt_after_ms",
)  # fmt: skip
COUNTED = (
    "retransmissions_count", "spurious_retransmissions_count", "timeout_retransmissions_count",
    "lost_in_link_count",
)  # fmt: skip
"""The columns of the table `handovers` that count segments from the start of a handover to a second
after its end, or to the next change."""


def mobility(
    events: pd.DataFrame | None, handovers: pd.DataFrame | None
) -> dict[str, float | None]:
    """Return counts of all UEs' `events`, and means and sums over the rows of `handovers`: one for
    each handover and flow.

    A mean or sum is null where no row has the value; `recovery_ms` is the mean of those that
    recovered, and `recovered_ratio` their share. Empty without either table.
    """
    if events is None or handovers is None:
        return {}
    complete = events[events["kind"] == "handover_complete"]
    reestablished = events[events["kind"] == "reestablished"]
    numbers: dict[str, float | None] = {
        "handovers_count": len(complete),
        "ping_pongs_count": _sum(complete, "ping_pong") or 0,
        **{name: int((events["kind"] == kind).sum()) for name, kind in _EVENT_OF_COUNT.items()},
        **{f"{one}_count": _of_class(reestablished, one) for one in _CLASSES},
        **{name: _mean(handovers, name) for name in _MEANS},
        **{name: _sum(handovers, name) for name in COUNTED},
        "discarded_bytes": _sum(events, "discarded_bytes") or 0,
    }
    recovered = _column(handovers, "recovery_ms").notna()
    numbers["recovered_ratio"] = float(recovered.mean()) if len(recovered) else None
    return numbers


def _of_class(reestablished: pd.DataFrame, name: str) -> int:
    return int((reestablished["class"] == name).sum()) if "class" in reestablished else 0


def _mean(table: pd.DataFrame, name: str) -> float | None:
    known = _column(table, name).dropna()
    return float(known.mean()) if len(known) else None


def _sum(table: pd.DataFrame, name: str) -> float | None:
    known = _column(table, name).dropna()
    return float(known.sum()) if len(known) else None


def _column(table: pd.DataFrame, name: str) -> pd.Series[float]:
    return table[name] if name in table else pd.Series(dtype="float64")
