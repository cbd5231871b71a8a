# SPDX-License-Identifier: Apache-2.0
"""Jain's fairness index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ddu.schema.arrays import Float


def jain(rates: Float) -> Float:
    """Return (Σx)² / (n·Σx²) of each column of `rates` (one row a flow), over those not NaN.

    From 1/n (one flow has all) to 1 (all alike). NaN with fewer than two flows, or when none got
    anything. Jain, Chiu, Hawe: A Quantitative Measure of Fairness, 1984.
    """
    active = ~np.isnan(rates)
    flows = active.sum(axis=0)
    values = np.where(active, rates, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        index = values.sum(axis=0) ** 2 / (flows * (values**2).sum(axis=0))
    return np.where(flows >= 2, index, np.nan)


def friendliness(throughput_bps: Sequence[float], ccs: Sequence[str]) -> float | None:
    """Return Jain's index between congestion controls: of the mean rate of each one's flows.

    Null unless several compete. Above 0.95 is reasonable, above 0.99 optimal (Lin et al.,
    section 4.2).
    """
    names = list(dict.fromkeys(ccs))
    if len(names) < 2:
        return None
    rates = [
        np.mean([x for x, cc in zip(throughput_bps, ccs, strict=True) if cc == n]) for n in names
    ]
    index = float(jain(np.array(rates)[:, None])[0])
    return None if np.isnan(index) else index
