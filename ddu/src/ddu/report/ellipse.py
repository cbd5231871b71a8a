# SPDX-License-Identifier: Apache-2.0
"""The joint spread of two numbers, as an ellipse."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from ddu.schema.arrays import Float


def add_ellipse(
    axis: Axes, xs: Float, ys: Float, colour: str, centre: tuple[float, float] | None = None
) -> None:
    """Draw one standard deviation along the principal axes of three or more points.

    `centre`: None for the points' own mean; a run's seconds spread about the run's mean, which
    weighs packets and is not the mean of its seconds.
    """
    if len(xs) < 3:
        return
    variances, vectors = np.linalg.eigh(np.cov(xs, ys))
    widths = 2 * np.sqrt(np.maximum(variances, 0))
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    if centre is None:
        centre = (float(xs.mean()), float(ys.mean()))
    axis.add_patch(
        Ellipse(centre, widths[1], widths[0], angle=angle, color=colour, alpha=0.15, linewidth=0)
    )
