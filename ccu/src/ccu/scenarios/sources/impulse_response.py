# SPDX-License-Identifier: Apache-2.0
"""Impulse responses of one link over time as scenarios: up to four taps, path loss and fading."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from ccu.scenarios.sources.imported_scenario import (
    FIGURE_DB,
    POWER_DBM,
    ImportedScenario,
    ImportOptions,
    covered_s,
)
from ddu.console.problems import refusal

MOST_TAPS = 4
MOST_ROWS = 400_000
"""Keeps nr-link below 100 MB with four taps."""


@dataclass(frozen=True)
class ImpulseResponse:
    """The paths of a link at instants; gains are amplitudes that include the path loss."""

    t_s: np.ndarray
    """Instants, from 0 on."""
    gains: np.ndarray
    """Complex gains, by instant and path."""
    delays_ns: np.ndarray
    """The delays, by instant and path."""


def scenario(
    file: Path, options: ImportOptions, response: ImpulseResponse, origin: str
) -> ImportedScenario:
    """Return the taps as radio, with thermal noise at the UE: their mean power becomes the path
    loss, the remainder is fading. Raises RefusedError."""
    instants, count = response.gains.shape
    if instants > MOST_ROWS:
        raise refusal(
            f"has more than {MOST_ROWS} rows",
            "reduce the sampling rate, or cut out a part",
            file=file,
        )
    mean_power = float(np.mean(np.sum(np.abs(response.gains) ** 2, axis=1)))
    if not mean_power > 0:
        raise refusal("no tap has power", "write amplitudes", file=file)
    # To a mean power of 1, as nr-link plays them.
    gains = response.gains / np.sqrt(mean_power)
    columns = {"t_s": response.t_s}
    for tap in range(count):
        columns[f"delay_ns_{tap + 1}"] = response.delays_ns[:, tap]
        columns[f"re_{tap + 1}"], columns[f"im_{tap + 1}"] = gains[:, tap].real, gains[:, tap].imag
    radio = {
        "ss_pbch_block_power_dbm": POWER_DBM,
        "level": {"path_loss_db": round(-10 * float(np.log10(mean_power)), 3)},
        "noise": {"figure_db": FIGURE_DB},
        "fading": {"tap_series": {"file": f"{options.name}.csv"}},
    }
    return ImportedScenario(
        duration_s=covered_s(file, response.t_s),
        summary=f"{count} taps over time, from {file.name}.",
        sources=[f"{origin} Path loss: their mean power."],
        body={"radio": radio},
        columns={f"{options.name}.csv": columns},
    )


def sampled(
    file: Path, options: ImportOptions, gains: np.ndarray, delays_s: np.ndarray, tool: str
) -> ImportedScenario:
    """Return the scenario of `gains` and `delays_s` by instant and path, one period of
    `options.period_s` apart; paths of similar delay are merged. Raises RefusedError."""
    if options.period_s is None:
        raise refusal(
            f"{tool} writes no times into this file",
            "give the time between its instants, such as --period 1ms",
            file=file,
        )
    if not (np.isfinite(gains).all() and np.isfinite(delays_s).all()):
        raise refusal("a gain or delay is not finite", "leave these instants out", file=file)
    used = (np.abs(gains) > 0).any(axis=0) & (delays_s >= 0).all(axis=0)
    if not used.any():
        raise refusal("no path has power", "give a link that is not blocked", file=file)
    gains, delays_s = gains[:, used], delays_s[:, used]
    _check_steps(file, gains)
    whole = ImpulseResponse(
        np.arange(len(gains)) * options.period_s, gains, (delays_s - delays_s.min()) * 1e9
    )
    taps, spread_ns = merged(whole)
    origin = f"Impulse responses: {tool}, {file.name}."
    if taps.gains.shape[1] < gains.shape[1]:
        origin += (
            f" {gains.shape[1]} paths, merged into {taps.gains.shape[1]} taps: within them delays"
            f" differ by {spread_ns:.3g} ns (rms)."
        )
    return scenario(file, options, taps, origin)


def _check_steps(file: Path, gains: np.ndarray) -> None:
    """Raise RefusedError if paths turn by more than 60 degrees from one instant to the next, as
    nr-link interpolates linearly: in the middle it would have 1.25 dB too little."""
    steps = float(np.sum(np.abs(np.diff(gains, axis=0)) ** 2))
    if steps > float(np.sum(np.abs(gains[1:]) ** 2)):
        raise refusal(
            "the channel changes too much from one instant to the next to be interpolated",
            "sample it more often, at least six times per period of its Doppler",
            file=file,
        )


def merged(response: ImpulseResponse, most: int = MOST_TAPS) -> tuple[ImpulseResponse, float]:
    """Return the response with at most so many taps, and the rms difference of delays within
    them, ns.

    Neighbours whose merging costs least (Ward's criterion, weighted by power) become one tap: its
    gain is the sum of theirs, its delay their mean by power.
    """
    power = np.abs(response.gains) ** 2
    weights = power.mean(axis=0)
    means_ns = (power * response.delays_ns).sum(axis=0) / power.sum(axis=0)
    groups = [[int(path)] for path in np.argsort(means_ns, kind="stable")]

    def centre(group: list[int]) -> tuple[float, float]:
        weight = float(weights[group].sum())
        return weight, float(np.average(means_ns[group], weights=weights[group]))

    while len(groups) > most:
        centres = [centre(group) for group in groups]
        costs = [a * b / (a + b) * (at_b - at_a) ** 2 for (a, at_a), (b, at_b) in pairwise(centres)]
        at = int(np.argmin(costs))
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    gains = np.stack([response.gains[:, group].sum(axis=1) for group in groups], axis=1)
    delays = np.stack([_delay(power[:, g], response.delays_ns[:, g]) for g in groups], axis=1)
    squares = sum(
        float((weights[group] * (means_ns[group] - centre(group)[1]) ** 2).sum())
        for group in groups
    )
    spread_ns = float(np.sqrt(squares / weights.sum()))
    return ImpulseResponse(response.t_s, gains, delays), spread_ns


def _delay(power: np.ndarray, delays_ns: np.ndarray) -> np.ndarray:
    """Return the mean of delays by power at each instant; where there is none, the plain mean."""
    total = power.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, power, 1.0)
    mean: np.ndarray = (weights * delays_ns).sum(axis=1) / weights.sum(axis=1)
    return mean
