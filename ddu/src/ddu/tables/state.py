# SPDX-License-Identifier: Apache-2.0
"""Sampled state of a flow's socket and congestion control, brought onto the bins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.align.run import AlignedRun
from ddu.run.manifest import Flow

_AGE_IN_INTERVALS = 2
"""A sample holds this long: one that is late by scheduling is no gap, a socket that is gone is."""

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""enum tcp_ca_state of Linux, include/uapi/linux/tcp.h."""

_USED = pd.Index(
    ["snd_mss_bytes", "snd_cwnd_packets", "snd_ssthresh_packets", "rtt_us", "ca_state",
     "pacing_rate_bytes_per_s", "delivery_rate_bytes_per_s"]
)  # fmt: skip
"""Of the socket's fields; a source that has fewer (the text of ss) leaves the rest null."""


def sockets_on_bins(run: AlignedRun, flow: Flow, bins: Bins) -> pd.DataFrame:
    """The socket's last sample in each bin, in the units of the aligned table."""
    ends = flow.endpoints
    if run.socket_rows is None or ends is None:
        return pd.DataFrame()
    own = run.socket_rows.of(ends)
    if not len(own):
        return pd.DataFrame()
    last = _latest(own, bins, own["interval_ms"].iloc[0] * 1e6)
    last = last.reindex(columns=[*last.columns, *_USED.difference(last.columns)])
    mss = last["snd_mss_bytes"]
    states = last["ca_state"].map(dict(enumerate(CA_STATES)))
    return pd.DataFrame(
        {
            "tcp_cwnd_bytes": last["snd_cwnd_packets"] * mss,
            "tcp_ssthresh_bytes": last["snd_ssthresh_packets"] * mss,
            "tcp_srtt_ms": last["rtt_us"] / 1e3,
            "tcp_pacing_rate_bps": last["pacing_rate_bytes_per_s"] * 8,
            "tcp_delivery_rate_bps": last["delivery_rate_bytes_per_s"] * 8,
            "tcp_ca_state": states,
        }
    )


def cc_on_bins(run: AlignedRun, flow: Flow, bins: Bins) -> pd.DataFrame:
    """What the congestion control told last in each bin, as `cc_<its name>`."""
    own = run.trace_of(flow)
    if own is None or not len(own):
        return pd.DataFrame()
    interval_ns = float(np.median(np.diff(own["utc_ns"]))) if len(own) > 1 else 0.0
    last = _latest(own, bins, interval_ns)
    names = [name for name in own.columns if name not in ("utc_ns", "sport", "dport")]
    return last[names].add_prefix("cc_")


def _latest(rows: pd.DataFrame, bins: Bins, interval_ns: float) -> pd.DataFrame:
    index = bins.latest(rows["utc_ns"].to_numpy(), int(_AGE_IN_INTERVALS * interval_ns))
    found = rows.reset_index(drop=True).reindex(np.where(index >= 0, index, -1))
    return found.reset_index(drop=True)
