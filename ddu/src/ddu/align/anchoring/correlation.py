# SPDX-License-Identifier: Apache-2.0
"""A log's clock found by its bytes: the traffic that the MAC counted is that of the capture.

Model: counter_i = a · C(θ + r·s_i) + b, where s_i is the report's time on the log's clock, C the
capture's cumulative bytes at a UTC instant, θ and r the clock's offset and rate, and a and b free:
headers make a differ from 1. Least squares over θ (and r for radio time, since a simulated radio
runs at its own pace). The interval is where the sum of squares stays below what its own residuals,
taken as correlated over neighbouring reports, let pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddu.align.anchoring.anchor import Anchor
from ddu.schema.arrays import Float, Int

LEAST_CORRELATION = 0.9
"""The least correlation of bytes per report; below, the log is not of this traffic."""
_HEADERS = (0.8, 1.4)
"""The MAC's bytes over the capture's, between what path loss takes and headers and padding add."""
_LEAST_REPORTS = 8
_STEPS = 400
_RATES = np.geomspace(0.2, 4.0, 151)
"""rfsim was seen between 0.38 and 2.5 times real time."""
_CHI2_95 = 3.84
_CORRELATED_REPORTS = 6
"""Reports that one error spans: it counts once."""
_FLOOR_NS = 5_000_000
"""Half a frame: a gNB prints its report within the frame that it names."""


@dataclass(frozen=True)
class Traffic:
    """A capture's bytes: `utc_ns` of packets in order of time, and their sizes."""

    utc_ns: Int
    size_bytes: Int

    def cumulative(self) -> tuple[Float, Float]:
        """Seconds from the first packet, and bytes until then."""
        seconds = (self.utc_ns - self.utc_ns[0]) / 1e9
        return seconds, np.cumsum(self.size_bytes).astype(np.float64)


def by_correlation(
    source: str, reports_ns: Int, counter_bytes: Float, traffic: Traffic
) -> Anchor | None:
    """The clock of a log whose reports count the capture's bytes.

    None: fewer than 8 reports, no byte counted, or no clock makes the counts those of the capture.
    """
    known = ~np.isnan(counter_bytes)
    reports_ns, counter = reports_ns[known], counter_bytes[known]
    if len(counter) < _LEAST_REPORTS or np.ptp(counter) <= 0 or not len(traffic.utc_ns):
        return None
    s = (reports_ns - reports_ns[0]) / 1e9
    at, total = traffic.cumulative()
    rates = _RATES if source == "radio" else np.array([1.0])
    best = min((_coarse(s, counter, at, total, float(rate)) for rate in rates), key=lambda x: x[0])
    theta, rate = _refine(s, counter, at, total, best[1], best[2], free_rate=len(rates) > 1)
    correlation = _correlation(s, counter, at, total, theta, rate)
    ratio = _ratio(s, counter, at, total, theta, rate)
    if correlation < LEAST_CORRELATION or not _HEADERS[0] < ratio < _HEADERS[1]:
        return None
    reach_s = _reach(s, counter, at, total, theta, rate, free_rate=len(rates) > 1)
    first = round(int(reports_ns[0]) * rate)
    return Anchor(
        source,
        "cross-correlation of the MAC's bytes with the capture's",
        int(traffic.utc_ns[0]) + round(theta * 1e9) - first,
        rate,
        round(reach_s * 1e9) + _FLOOR_NS,
        round(correlation, 4),
    )


def _rss(s: Float, counter: Float, at: Float, total: Float, thetas: Float, rate: float) -> Float:
    """Residual sums of squares at each offset, a ≥ 0 and b fitted."""
    instants = thetas[:, None] + rate * s[None, :]
    x = np.interp(instants, at, total, left=0.0)
    x = x - x.mean(axis=1, keepdims=True)
    y = counter - counter.mean()
    xx, xy, yy = (x * x).sum(axis=1), x @ y, float(y @ y)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.where((xx > 0) & (xy > 0), xy**2 / xx, 0.0)
    rss: Float = yy - explained
    return rss


def _coarse(
    s: Float, counter: Float, at: Float, total: Float, rate: float
) -> tuple[float, float, float]:
    length = rate * s[-1]
    thetas = np.linspace(-length, at[-1], _STEPS)
    rss = _rss(s, counter, at, total, thetas, rate)
    index = int(np.argmin(rss))
    return float(rss[index]), float(thetas[index]), rate


def _refine(
    s: Float, counter: Float, at: Float, total: Float, theta: float, rate: float, free_rate: bool
) -> tuple[float, float]:
    width = (rate * s[-1] + at[-1]) / _STEPS * 2
    spread = 0.03 if free_rate else 0.0
    while width > 5e-5:
        candidates = []
        for each in np.unique(rate * (1 + spread * np.linspace(-1, 1, 13))):
            thetas = theta + width * np.linspace(-1, 1, 41)
            rss = _rss(s, counter, at, total, thetas, float(each))
            index = int(np.argmin(rss))
            candidates.append((float(rss[index]), float(thetas[index]), float(each)))
        _, theta, rate = min(candidates)
        width, spread = width * 0.4, spread * 0.4
    return theta, rate


def _correlation(
    s: Float, counter: Float, at: Float, total: Float, theta: float, rate: float
) -> float:
    """Return the correlation of what each report counted since the one before it."""
    x = np.diff(np.interp(theta + rate * s, at, total, left=0.0))
    y = np.diff(counter)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _ratio(s: Float, counter: Float, at: Float, total: Float, theta: float, rate: float) -> float:
    captured = np.ptp(np.interp(theta + rate * s, at, total, left=0.0))
    return float(np.ptp(counter) / captured) if captured > 0 else 0.0


def _reach(
    s: Float, counter: Float, at: Float, total: Float, theta: float, rate: float, free_rate: bool
) -> float:
    """Half the interval of the offset at the middle of the log, in seconds; see the module."""
    middle = float(s[-1]) / 2
    reaches = np.concatenate([[0.0], np.geomspace(1e-4, max(rate * s[-1], 1.0), 60)])
    effective = max((len(s) - 3) / _CORRELATED_REPORTS, 1.0)
    limit = 1 + _CHI2_95 / effective
    least = float(_rss(s, counter, at, total, np.array([theta]), rate)[0])
    rates = rate * (1 + 0.01 * np.linspace(-1, 1, 21)) if free_rate else np.array([rate])
    widest = 0.0
    for each in rates:
        centre = theta + (rate - float(each)) * middle
        for side in (-1, 1):
            rss = _rss(s, counter, at, total, centre + side * reaches, float(each))
            inside = np.flatnonzero(rss <= least * limit + 1e-9)
            if len(inside):
                widest = max(widest, float(reaches[min(inside[-1] + 1, len(reaches) - 1)]))
    return widest
