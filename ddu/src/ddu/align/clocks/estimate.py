# SPDX-License-Identifier: Apache-2.0
"""Offset and skew of two clocks out of the bounds that packets set, and how sure they are.

θ(t) = a + s·t is taken to be a line: clocks run at rates of their own and are not set meanwhile.
Estimate: the line under all upper bounds and the line above all lower ones, of one common slope,
that come nearest to them (a linear program, Moon, Skelly and Towsley, INFOCOM 1999, for both
directions at once); θ lies midway, as if the least delays of both directions were equal.
Interval: every line between the bounds could be the truth, whatever the delays are. It is some
least round-trip time wide and cannot be narrower from packets alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.align.clocks.bounds import Bounds, hull
from ddu.align.clocks.clock import Clock
from ddu.schema.arrays import Float

METHOD = "lines of one slope on the convex hulls of the delays of both directions"
MOST_SKEW = 1e-3
"""1000 ppm; quartz is within 100, and NTP slews by at most 500."""


class ContradictoryBoundsError(ValueError):
    """No line lies between the bounds."""


@dataclass(frozen=True)
class ClockEstimate:
    """The second clock against the first."""

    clock: Clock
    """The clock of the second host; the first's is the run's."""
    uncertainty_ns: int
    """Half of the interval, at the instant of the bounds where it is widest."""
    skew_low: float
    skew_high: float


def estimate(upper: Bounds, lower: Bounds) -> ClockEstimate:
    """Return the estimate from the bounds on θ, of both kinds. Raises ContradictoryBoundsError."""
    problem = _Problem(upper, lower)
    theta_ns, skew = problem.nearest()
    # Instants relative to the middle, on the first clock; the second's then is θ ahead.
    at_utc_ns = problem.at_ns + round(problem.base_ns + theta_ns)
    clock = Clock(round(problem.base_ns + theta_ns), skew / (1 + skew), at_utc_ns)
    widest = max(
        max(high - (theta_ns + skew * at), theta_ns + skew * at - low)
        for at in problem.ends
        for low, high in [problem.between(at)]
    )
    low, high = problem.slopes()
    return ClockEstimate(clock, int(np.ceil(widest)), low, high)


class _Problem:
    """The bounds as floats near 0: instants in ns from their middle, θ from its first bound."""

    def __init__(self, upper: Bounds, lower: Bounds) -> None:
        first = min(int(upper.at_ns.min()), int(lower.at_ns.min()))
        last = max(int(upper.at_ns.max()), int(lower.at_ns.max()))
        upper, lower = upper.tightest(upper=True), lower.tightest(upper=False)
        self.at_ns = (first + last) // 2
        self.base_ns = int(upper.theta_ns[0])
        self.ends = (float(first - self.at_ns), 0.0, float(last - self.at_ns))
        self._upper, self._lower = self._points(upper), self._points(lower)
        self._above = self._upper[hull(self._upper, lower=True)]
        self._below = self._lower[hull(self._lower, lower=False)]

    def _points(self, bounds: Bounds) -> npt.NDArray[np.float64]:
        at = (bounds.at_ns - self.at_ns).astype(np.float64)
        return np.stack([at, (bounds.theta_ns - self.base_ns).astype(np.float64)], axis=1)

    def nearest(self) -> tuple[float, float]:
        """θ in the middle of the time, and the slope."""
        above, below = self._above, self._below
        ones, zeros = np.ones(len(above)), np.zeros(len(below))
        rows = np.concatenate(
            [
                np.stack([ones, np.zeros(len(above)), above[:, 0]], axis=1),
                -np.stack([zeros, np.ones(len(below)), below[:, 0]], axis=1),
            ]
        )
        slope = float(self._lower[:, 0].mean() - self._upper[:, 0].mean())
        high, low, skew = self._solve([-1.0, 1.0, slope], rows)
        return (high + low) / 2, skew

    def between(self, at: float) -> tuple[float, float]:
        """The least and the greatest θ at an instant."""
        objective = [1.0, at]
        low, high = (self._line([sign * one for one in objective]) for sign in (1, -1))
        return low[0] + low[1] * at, high[0] + high[1] * at

    def slopes(self) -> tuple[float, float]:
        """The least and the greatest skew."""
        return self._line([0.0, 1.0])[1], self._line([0.0, -1.0])[1]

    def _line(self, objective: list[float]) -> Float:
        rows = np.concatenate(
            [
                np.stack([np.ones(len(self._above)), self._above[:, 0]], axis=1),
                -np.stack([np.ones(len(self._below)), self._below[:, 0]], axis=1),
            ]
        )
        return self._solve(objective, rows)

    def _solve(self, objective: list[float], rows: npt.NDArray[np.float64]) -> Float:
        from scipy.optimize import linprog

        limits = np.concatenate([self._above[:, 1], -self._below[:, 1]])
        # In ms and s, where the solver's tolerances are fractions of a nanosecond.
        scale = np.array([1e6] * (len(objective) - 1) + [1e-3])
        optimum = linprog(
            np.array(objective) * scale,
            A_ub=rows * scale / 1e6,
            b_ub=limits / 1e6,
            bounds=[(None, None)] * (len(objective) - 1) + [(-MOST_SKEW * 1e3, MOST_SKEW * 1e3)],
            method="highs",
        )
        if not optimum.success:
            raise ContradictoryBoundsError
        solution: Float = optimum.x * scale
        return solution
