# SPDX-License-Identifier: Apache-2.0
"""Distributions of delays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu.flows.observe import ObservedFlow
from ddu.schema.arrays import Float

WITHIN_MS = (20, 40, 100)
"""Delay budgets of applications: haptic feedback and VR, cloud games, speech and video."""

CDF_SHARES = np.unique(np.concatenate([np.linspace(0, 1, 1001), 1 - np.logspace(-3, -5, 21)]))
"""Per mille, and finer in the tail; of a flow with fewer samples, those of each sample."""


def quantiles(values: Float, **percents: float) -> dict[str, float | None]:
    """Return mean and percentiles (linear interpolation) of the values that are not NaN."""
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(["mean", *percents])
    mean: dict[str, float | None] = {"mean": float(values.mean())}
    at = np.percentile(values, list(percents.values()))
    return mean | dict(zip(percents, map(float, at), strict=True))


def share_within(flow: ObservedFlow, budget_ms: int) -> float | None:
    """Return the share of packets that arrived within the budget, of those with a delay or lost;
    None if no packet has a delay."""
    delays = flow.packet_owd
    if not len(delays.value_ms):
        return None
    within = delays.packet_count[delays.value_ms <= budget_ms].sum()
    return float(within / (delays.packet_count.sum() + flow.lost.count.sum()))


def delay_cdf(flows: Sequence[ObservedFlow]) -> pd.DataFrame:
    """Return `flow`, `metric` (`rtt`, `owd`), `share`, `delay_ms`: that share of the samples is not
    larger (nearest rank)."""
    names: list[tuple[str, str, str]] = []
    shares: list[Float] = []
    delays_ms: list[Float] = []
    for flow in flows:
        for metric, samples in (("rtt", flow.rtt), ("owd", flow.one_way_delay)):
            if len(samples):
                share, delay_ms = _cdf(samples.value_ms)
                names.append((flow.flow.id, flow.flow.cc_read_back or flow.flow.cc, metric))
                shares.append(share)
                delays_ms.append(delay_ms)
    if not names:
        return pd.DataFrame()
    lengths = [len(each) for each in shares]
    of_rows = {
        column: np.repeat(np.array(values, dtype=object), lengths)
        for column, values in zip(("flow", "cc", "metric"), zip(*names, strict=True), strict=True)
    }
    of_rows |= {"share": np.concatenate(shares), "delay_ms": np.concatenate(delays_ms)}
    return pd.DataFrame(of_rows)


def _cdf(delay_ms: Float) -> tuple[Float, Float]:
    """Return shares and the delays that bound them; each sample's own share where there are few."""
    ordered = np.sort(delay_ms)
    count = len(ordered)
    if count < len(CDF_SHARES):
        return np.arange(1, count + 1) / count, ordered
    # Rounding must not lift a share that is a whole number of samples to the next one.
    rank = np.ceil(np.round(CDF_SHARES * count, 6)).astype(np.int64)
    return CDF_SHARES, ordered[np.maximum(rank - 1, 0)]
