# SPDX-License-Identifier: Apache-2.0
"""The joint spread of two numbers, as an ellipse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ddu.report.figure import Series
from ddu.schema.arrays import Float


def ellipse(
    xs: Float, ys: Float, colour: str, centre: tuple[float, float] | None = None
) -> Iterator[Series]:
    """Yield one standard deviation along the principal axes of three or more points.

    `centre`: None for the points' own mean; a run's seconds spread about the run's mean, which
    weighs packets and is not the mean of its seconds.
    """
    if len(xs) < 3:
        return
    variances, vectors = np.linalg.eigh(np.cov(xs, ys))
    angle = np.linspace(0, 2 * np.pi, 49)[:-1]
    circle = np.stack([np.cos(angle), np.sin(angle)])
    x, y = vectors @ (np.sqrt(np.maximum(variances, 0))[:, np.newaxis] * circle)
    if centre is None:
        centre = (float(xs.mean()), float(ys.mean()))
    yield Series(centre[0] + x, centre[1] + y, colour, kind="area", opacity=0.15)
