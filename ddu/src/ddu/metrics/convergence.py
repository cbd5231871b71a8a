# SPDX-License-Identifier: Apache-2.0
"""Convergence time and stability of the congestion window (Lin et al., section 4.3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.schema.arrays import Float

SAMPLE_S = 0.1
WINDOW_S = 30.0
"""The window of section 4.3, whose trials last 600 s and more."""
SHORTER_RUNS_WINDOW_RATIO = 0.1
"""Share of a shorter run. The paper's own ratio, 5 %, leaves too few samples of a short run."""
BAND = (0.8, 1.2)


def convergence(rows: pd.DataFrame, start_s: float) -> dict[str, float | None]:
    """Return convergence time, stability and window of a flow's rows of the aligned table.

    `start_s` is the start of the flow. All are null without samples of the socket, with fewer than
    two windows of them, and if μ is never near its mean.

    μ(t) is the mean congestion window over the last W seconds. The flow has converged when μ first
    lies within 80 to 120 % of its own mean; stability is the deviation of μ from that mean from
    then on.
    """
    none = dict.fromkeys(("convergence_time_s", "stability_bytes", "convergence_window_s"))
    if "tcp_cwnd_bytes" not in rows:
        return none
    window_bytes = _sampled(rows, start_s)
    count = _window_samples(len(window_bytes))
    if len(window_bytes) < 2 * count:
        return none
    moving = np.convolve(window_bytes, np.full(count, 1 / count), mode="valid")
    mean = moving.mean()
    inside = (moving >= BAND[0] * mean) & (moving <= BAND[1] * mean)
    if not inside.any():
        return none
    first = int(np.argmax(inside))
    return {
        "convergence_time_s": (first + count) * SAMPLE_S,
        "stability_bytes": float(np.sqrt(((moving[first:] - mean) ** 2).mean())),
        "convergence_window_s": count * SAMPLE_S,
    }


def _window_samples(samples: int) -> int:
    shorter = SHORTER_RUNS_WINDOW_RATIO * samples
    return max(round(min(WINDOW_S / SAMPLE_S, shorter)), 1)


def _sampled(rows: pd.DataFrame, start_s: float) -> Float:
    known = rows[rows["tcp_cwnd_bytes"].notna() & (rows["t_s"] >= start_s)]
    if not len(known):
        return np.zeros(0)
    t_s, cwnd = known["t_s"].to_numpy(), known["tcp_cwnd_bytes"].to_numpy(dtype=np.float64)
    instants = np.arange(t_s[0], t_s[-1] + SAMPLE_S / 2, SAMPLE_S)
    sampled: Float = cwnd[np.searchsorted(t_s, instants + 1e-9, side="right") - 1]
    return sampled
