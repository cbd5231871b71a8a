# SPDX-License-Identifier: Apache-2.0
"""The state of the sending socket in the kernel (`struct tcp_info`), on the bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from ddu.metrics.metric import BinMetric, Need, OnBins
from ddu.schema.columns import Panel

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""The names of the values 0, 1, … of enum tcp_ca_state (include/uapi/linux/tcp.h)."""

_SOCKETS = (Need.SOCKETS,)


def _from_sample(
    compute: Callable[[pd.DataFrame], pd.Series[Any]],
) -> Callable[[OnBins], pd.Series[Any]]:
    """Return the computation of a column from the last sample before each bin's end."""

    def column(at: OnBins) -> pd.Series[Any]:
        assert at.sockets is not None  # `needs` says so.
        return compute(at.sockets)

    return column


METRICS = (
    BinMetric(
        "tcp_cwnd_bytes",
        "snd_cwnd · MSS as the kernel reports them, last sample before the bin's end",
        "Congestion window", digits=0, needs=_SOCKETS,
        compute=_from_sample(lambda last: last["snd_cwnd_packets"] * last["snd_mss_bytes"]),
        panel=Panel(60),
    ),
    BinMetric(
        "tcp_ssthresh_bytes", "slow-start threshold; null while there is none",
        "Slow-start threshold", digits=0, details="`snd_ssthresh` · MSS", needs=_SOCKETS,
        compute=_from_sample(lambda last: last["snd_ssthresh_packets"] * last["snd_mss_bytes"]),
    ),
    BinMetric(
        "tcp_srtt_ms", "smoothed RTT of the kernel", "Smoothed RTT", details="`tcpi_rtt`",
        needs=_SOCKETS, compute=_from_sample(lambda last: last["rtt_us"] / 1e3),
    ),
    BinMetric(
        "tcp_pacing_rate_bps", "pacing rate of the kernel", "Pacing rate",
        details="`tcpi_pacing_rate` · 8", needs=_SOCKETS,
        compute=_from_sample(lambda last: last["pacing_rate_bytes_per_s"] * 8),
    ),
    BinMetric(
        "tcp_delivery_rate_bps", "delivery rate that the kernel measured last", "Delivery rate",
        details="`tcpi_delivery_rate` · 8", needs=_SOCKETS,
        compute=_from_sample(lambda last: last["delivery_rate_bytes_per_s"] * 8),
    ),
    BinMetric(
        "tcp_ca_state", "open, disorder, cwr, recovery or loss",
        "State of the congestion avoidance", "name", needs=_SOCKETS,
        compute=_from_sample(lambda last: last["ca_state"].map(dict(enumerate(CA_STATES)))),
    ),
)  # fmt: skip
