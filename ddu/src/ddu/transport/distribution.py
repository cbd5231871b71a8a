# SPDX-License-Identifier: Apache-2.0
"""How delays are distributed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu.tables.bins import Float
from ddu.transport.observe import ObservedFlow

WITHIN_MS = (20, 40, 100)
"""Delay budgets of applications: haptic feedback and VR, cloud games, speech and video."""

CDF_SHARES = np.unique(np.concatenate([np.linspace(0, 1, 1001), 1 - np.logspace(-3, -5, 21)]))
"""Per mille, and finer in the tail."""


def quantiles(values: Float, **percents: float) -> dict[str, float | None]:
    """Mean and percentiles (linear interpolation) of the values that are not NaN."""
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(["mean", *percents])
    found: dict[str, float | None] = {"mean": float(values.mean())}
    at = np.percentile(values, list(percents.values()))
    return found | dict(zip(percents, map(float, at), strict=True))


def shares_within(flow: ObservedFlow) -> dict[str, float | None]:
    """Share of the packets sent once that arrived within each budget; lost ones did not."""
    delay_ms = flow.one_way_delay.value_ms
    packets = len(delay_ms) + float(flow.lost.count.sum()) if flow.at_both else 0.0
    return {
        f"within_{budget}ms_ratio": float((delay_ms <= budget).sum() / packets) if packets else None
        for budget in WITHIN_MS
    }


def delay_cdf(flows: Sequence[ObservedFlow]) -> pd.DataFrame:
    """`flow`, `metric` (`rtt`, `owd`), `share`, `delay_ms`: that share of its samples is no
    larger (nearest rank)."""
    parts = []
    for flow in flows:
        for metric, samples in (("rtt", flow.rtt), ("owd", flow.one_way_delay)):
            if len(samples):
                delay_ms = np.quantile(samples.value_ms, CDF_SHARES, method="inverted_cdf")
                names = {"flow": flow.flow.id, "cc": flow.flow.cc_read_back or flow.flow.cc}
                rows = {"metric": metric, "share": CDF_SHARES, "delay_ms": delay_ms}
                parts.append(pd.DataFrame(names | rows))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
