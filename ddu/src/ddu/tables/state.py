# SPDX-License-Identifier: Apache-2.0
"""Sampled state of a flow's socket and congestion control, brought onto the bins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.metrics.catalogue import bin_metrics
from ddu.metrics.metric import OnBins
from ddu.run.manifest import Flow

_AGE_IN_INTERVALS = 2
"""A sample holds this long: one that is late by scheduling is no gap, a socket that is gone is."""

_SAMPLED = pd.Index(
    ["snd_mss_bytes", "snd_cwnd_packets", "snd_ssthresh_packets", "rtt_us", "ca_state",
     "pacing_rate_bytes_per_s", "delivery_rate_bytes_per_s"]
)  # fmt: skip
"""Fields that a source may lack (the text of ss), and which are null then."""


def sockets_on_bins(run: AlignedRun, flow: ObservedFlow, bins: Bins) -> pd.DataFrame:
    """Return the metrics of the socket; without columns where it was not sampled."""
    ends = flow.flow.endpoints
    own = None if run.socket_rows is None or ends is None else run.socket_rows.of(ends)
    if own is None or not len(own):
        return pd.DataFrame()
    last = _latest(own, bins, own["interval_ms"].iloc[0] * 1e6)
    last = last.reindex(columns=[*last.columns, *_SAMPLED.difference(last.columns)])
    at = OnBins(flow, bins, sockets=last)
    return pd.DataFrame({each.name: each.values(at) for each in bin_metrics("sockets")})


def quic_on_bins(run: AlignedRun, flow: ObservedFlow, bins: Bins) -> pd.DataFrame:
    """Return the metrics of a QUIC sender; without columns where it has no qlog.

    A value holds until the next update, and none after the log's last.
    """
    table = run.tables.get("quic")
    own = None if table is None else table[table["flow"] == flow.flow.id]
    if own is None or not len(own):
        return pd.DataFrame()
    ended = bins.edges_utc_ns[:-1] > int(own["utc_ns"].iloc[-1])
    last = _latest(own, bins, float(own["utc_ns"].iloc[-1] - own["utc_ns"].iloc[0]))
    last[ended] = np.nan
    at = OnBins(flow, bins, quic=own, quic_latest=last)
    return pd.DataFrame({each.name: each.values(at) for each in bin_metrics("quic")})


def cc_on_bins(run: AlignedRun, flow: Flow, bins: Bins) -> pd.DataFrame:
    """Return the last row of the congestion control's trace in each bin, as `cc_<its name>`."""
    own = run.trace_of(flow)
    if own is None or not len(own):
        return pd.DataFrame()
    interval_ns = float(np.median(np.diff(own["utc_ns"]))) if len(own) > 1 else 0.0
    last = _latest(own, bins, interval_ns)
    names = [name for name in own.columns if name not in ("utc_ns", "sport", "dport")]
    return last[names].add_prefix("cc_")


def _latest(rows: pd.DataFrame, bins: Bins, interval_ns: float) -> pd.DataFrame:
    index = bins.latest(rows["utc_ns"].to_numpy(), int(_AGE_IN_INTERVALS * interval_ns))
    latest = rows.reset_index(drop=True).reindex(np.where(index >= 0, index, -1))
    return latest.reset_index(drop=True)
