# SPDX-License-Identifier: Apache-2.0
"""The style of figures that matplotlib draws, for campaigns and comparisons."""

from __future__ import annotations

from typing import Any

from ddu.report.palette import GRID, INK, MUTED

STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "svg.hashsalt": "ddu",
}
METADATA = {"Date": None, "Creator": "ddu"}
