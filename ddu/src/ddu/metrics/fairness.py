# SPDX-License-Identifier: Apache-2.0
"""Jain's fairness index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ddu.schema.arrays import Float


def jain(rates: Float) -> Float:
    """Return (Σx)² / (n·Σx²) of each column of `rates`, which has a row for each flow, over its n
    values that are not NaN.

    The index is from 1/n (one flow has all) to 1 (all are equal). It is NaN with fewer than two
    flows, or if all rates are 0. Jain, Chiu, Hawe: A Quantitative Measure of Fairness, 1984.
    """
    active = ~np.isnan(rates)
    flows = active.sum(axis=0)
    values = np.where(active, rates, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        index = values.sum(axis=0) ** 2 / (flows * (values**2).sum(axis=0))
    return np.where(flows >= 2, index, np.nan)


def friendliness(throughput_bps: Sequence[float], ccs: Sequence[str]) -> float | None:
    """Return Jain's index of the mean throughputs of the congestion controls; `ccs` names that of
    each flow.

    None unless several compete. Above 0.95 is reasonable, above 0.99 optimal (Lin et al.,
    section 4.2).
    """
    of_cc: dict[str, list[float]] = {}
    for cc, rate_bps in zip(ccs, throughput_bps, strict=True):
        of_cc.setdefault(cc, []).append(rate_bps)
    if len(of_cc) < 2:
        return None
    means_bps = np.array([np.mean(rates_bps) for rates_bps in of_cc.values()])
    index = float(jain(means_bps[:, None])[0])
    return None if np.isnan(index) else index
