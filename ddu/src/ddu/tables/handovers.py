# SPDX-License-Identifier: Apache-2.0
"""The effect of each change of the cell on each flow: before, during and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.flows.observe import ObservedFlow
from ddu.metrics.mobility import COUNTED
from ddu.schema.arrays import Float, floats_of

KINDS = ("handover_complete", "reestablished")
_AROUND_S = 1.0
"""The time before and after that is compared."""
_RECOVERED_S, _RECOVERED_RATIO = 0.1, 0.9
"""Throughput has recovered when so long a time has so much of that before."""


def handovers_table(
    events: pd.DataFrame | None, aligned: pd.DataFrame, flows: Sequence[ObservedFlow], bins: Bins
) -> pd.DataFrame | None:
    """Return a row for each change of a UE's cell and flow of that UE; None with one cell."""
    if events is None or not (events["kind"] == "cell_selected").any():
        return None
    rows = [
        row
        for index, observed in enumerate(flows)
        for row in _of_flow(
            events[events["ue"] == observed.flow.ue],
            observed.flow.id,
            aligned.iloc[index * bins.count : (index + 1) * bins.count],
            bins,
        )
    ]
    first = ["utc_ns", "flow", "ue", "kind", "cell", "target", "interruption_ms"]
    table = pd.DataFrame(rows)
    if table.empty:
        return pd.DataFrame({name: pd.Series(dtype="float64") for name in first})
    table = table[[*first, *table.columns.difference(first, sort=False)]]
    return table.sort_values("utc_ns", kind="stable", ignore_index=True)


def _of_flow(
    events: pd.DataFrame, flow: str, aligned: pd.DataFrame, bins: Bins
) -> list[dict[str, Any]]:
    changes = events[events["kind"].isin(KINDS)]
    stop_ns = bins.start_utc_ns + bins.count * bins.width_ns
    ends_ns = [*changes["utc_ns"], stop_ns]
    begins_ns = [int(one["utc_ns"] - one["interruption_ns"]) for _, one in changes.iterrows()]
    begins_ns.append(stop_ns)
    forwarded = events[events["kind"] == "data_forwarded"]
    rows = []
    for number, (_, change) in enumerate(changes.iterrows()):
        end_ns = int(change["utc_ns"])
        begin_ns, until_ns = begins_ns[number : number + 2]
        within = forwarded["utc_ns"].between(end_ns, int(ends_ns[number + 1]))
        # The next change says at its end what became of this one's, if that was still under way.
        own = (forwarded["cell"] == change["cell"]) & (forwarded["target"] == change["target"])
        bytes_of = forwarded[within & own]
        rows.append(
            {
                "utc_ns": begin_ns,
                "flow": flow,
                **{key: change[key] for key in _fields(change)},
                "interruption_ms": (end_ns - begin_ns) / 1e6,
                **_effect(aligned, bins, begin_ns, end_ns, until_ns),
                **{
                    name: bytes_of[name].iloc[0] if len(bytes_of) else np.nan
                    for name in ("forwarded_bytes", "retransmitted_bytes", "discarded_bytes")
                },
            }
        )
    return rows


def _fields(change: pd.Series[Any]) -> list[str]:
    known = (
        "ue", "kind", "cell", "target", "handover", "class", "ping_pong", "processing_ns",
        "synchronisation_ns", "access_ns",
    )  # fmt: skip
    return [name for name in known if name in change.index]


def _effect(
    aligned: pd.DataFrame, bins: Bins, begin_ns: int, end_ns: int, until_ns: int
) -> Mapping[str, float | None]:
    def place(utc_ns: float) -> int:
        return int(np.clip((utc_ns - bins.start_utc_ns) // bins.width_ns, 0, bins.count))

    around_ns = _AROUND_S * 1e9
    begin, end = place(begin_ns), place(end_ns)
    before, during = slice(place(begin_ns - around_ns), begin), slice(begin, end + 1)
    after = slice(end + 1, place(min(end_ns + around_ns, until_ns)))
    throughput, rtt = floats_of(aligned, "tcp_throughput_bps"), floats_of(aligned, "tcp_rtt_ms")
    counted = slice(begin, after.stop)
    usual_bps = _of_known(throughput[before], np.mean)
    return {
        "throughput_before_bps": usual_bps,
        "throughput_during_bps": _of_known(throughput[during], np.mean),
        "throughput_after_bps": _of_known(throughput[after], np.mean),
        "rtt_before_ms": _of_known(rtt[before], np.mean),
        "rtt_during_ms": _of_known(rtt[counted], np.max),
        "rtt_after_ms": _of_known(rtt[after], np.mean),
        "recovery_ms": _recovery_ms(
            throughput[end : place(until_ns)], usual_bps, bins, end_ns, end
        ),
        **{name: _of_known(floats_of(aligned, f"tcp_{name}")[counted], np.sum) for name in COUNTED},
    }


def _recovery_ms(
    throughput: Float, before: float | None, bins: Bins, end_ns: int, first: int
) -> float | None:
    """Return the time until the first window that has recovered begins."""
    window = max(round(_RECOVERED_S / bins.width_s), 1)
    if not before or len(throughput) < window:
        return None
    sums = np.cumsum(np.concatenate([[0.0], np.nan_to_num(throughput)]))
    means = (sums[window:] - sums[:-window]) / window
    recovered = np.flatnonzero(means >= _RECOVERED_RATIO * before)
    if not len(recovered):
        return None
    begins_ns = bins.start_utc_ns + (first + int(recovered[0])) * bins.width_ns
    return max(begins_ns - end_ns, 0) / 1e6


def _of_known(values: Float, number: Callable[[Float], Any]) -> float | None:
    """Return a number of the values that are known; None without any."""
    known = values[~np.isnan(values)]
    return float(number(known)) if len(known) else None
