# SPDX-License-Identifier: Apache-2.0
"""The state of a QUIC sender, as its qlog says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.metrics.distribution import quantiles
from ddu.metrics.metric import BinMetric, Need, OnBins, SummaryMetric
from ddu.schema.arrays import Float
from ddu.schema.columns import Panel

_QLOG = (Need.QLOG,)
_PERCENTS = {"p50": 50, "p95": 95, "p99": 99}
_PARTS = ("mean", *_PERCENTS)


def _latest(column: str) -> Callable[[OnBins], pd.Series[Any] | Float]:
    def value(at: OnBins) -> pd.Series[Any] | Float:
        assert at.quic_latest is not None
        if column not in at.quic_latest:
            return np.full(at.bins.count, np.nan)
        return at.quic_latest[column]

    return value


def _events(column: str) -> Callable[[OnBins], Float]:
    def count(at: OnBins) -> Float:
        assert at.quic is not None
        counts = at.quic[column].to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isnan(counts).all():
            return np.full(at.bins.count, np.nan)
        return at.bins.sums(at.quic["utc_ns"].to_numpy(dtype=np.int64), counts)

    return count


def _samples_ms(run: AlignedRun, flows: Sequence[ObservedFlow]) -> dict[str, float | None]:
    """Return the distribution of the newest RTT sample over the updates of the senders' states."""
    table = run.tables.get("quic")
    if table is None or "quic_rtt_ms" not in table:
        return dict.fromkeys(_PARTS)
    named = table["flow"].isin([flow.flow.id for flow in flows])
    updates = table[named & (table["quic_loss_count"] == 0)]
    values = updates["quic_rtt_ms"].to_numpy(dtype=np.float64, na_value=np.nan)
    return quantiles(values, **_PERCENTS)


METRICS: tuple[BinMetric | SummaryMetric, ...] = (
    SummaryMetric(
        "quic_rtt_ms", "newest RTT sample of the QUIC sender, at each update of its state",
        "RTT (QUIC)",
        details="qlog: `latest_rtt`, from departure to ACK, with the receiver's delay; mean and "
        "percentiles over all events `metrics_updated`; absent without a qlog",
        needs=_QLOG, parts=_PARTS, if_known=True,
        of_run=lambda view: _samples_ms(view.run, view.flows),
        of_flow=lambda view: _samples_ms(view.run, [view.flow]),
    ),
    BinMetric(
        "quic_cwnd_bytes", "congestion window of the QUIC sender, last update before the bin's end",
        "Congestion window (QUIC)", digits=0, details="qlog: `congestion_window`", needs=_QLOG,
        compute=_latest("quic_cwnd_bytes"), panel=Panel(61),
    ),
    BinMetric(
        "quic_in_flight_bytes", "bytes in flight of the QUIC sender, last update",
        "Bytes in flight (QUIC)", digits=0, details="qlog: `bytes_in_flight`", needs=_QLOG,
        compute=_latest("quic_in_flight_bytes"), panel=Panel(62),
    ),
    BinMetric(
        "quic_ssthresh_bytes", "slow-start threshold of the QUIC sender; null while there is none",
        "Slow-start threshold (QUIC)", digits=0, details="qlog: `ssthresh`", needs=_QLOG,
        compute=_latest("quic_ssthresh_bytes"),
    ),
    BinMetric(
        "quic_srtt_ms", "smoothed RTT of the QUIC sender, last update", "Smoothed RTT (QUIC)",
        details="qlog: `smoothed_rtt`", needs=_QLOG, compute=_latest("quic_srtt_ms"),
        panel=Panel(31),
    ),
    BinMetric(
        "quic_rtt_ms", "newest RTT sample of the QUIC sender", "RTT sample (QUIC)",
        details="qlog: `latest_rtt`", needs=_QLOG, compute=_latest("quic_rtt_ms"),
    ),
    BinMetric(
        "quic_min_rtt_ms", "least RTT of the QUIC sender so far", "Least RTT (QUIC)",
        details="qlog: `min_rtt`", needs=_QLOG, compute=_latest("quic_min_rtt_ms"),
    ),
    BinMetric(
        "quic_pacing_rate_bps", "pacing rate of the QUIC sender, where it says one",
        "Pacing rate (QUIC)", details="qlog: `pacing_rate`", needs=_QLOG,
        compute=_latest("quic_pacing_rate_bps"),
    ),
    BinMetric(
        "quic_loss_count", "packets that the QUIC sender declared lost", "Losses (QUIC)", "packets",
        digits=0, details="qlog: `packet_lost`", needs=_QLOG, compute=_events("quic_loss_count"),
        panel=Panel(81, as_dots=True, in_wider_bins="sum"),
    ),
    BinMetric(
        "quic_spurious_loss_count", "of these, packets that the receiver got",
        "Spurious losses (QUIC)", "packets", digits=0,
        details="packet numbers of `packet_lost` that are in `packet_received` of the receiver's "
        "qlog; null without it",
        needs=_QLOG, compute=_events("quic_spurious_loss_count"),
    ),
)  # fmt: skip
