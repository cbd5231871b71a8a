# SPDX-License-Identifier: Apache-2.0
"""Random links for training: what one episode's flow meets. Drawn, not measured."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP_S = 0.002
PACKET_BITS = 1500 * 8
LEAST_MBPS, MOST_MBPS = 2.0, 300.0
LEAST_RTT_S, MOST_RTT_S = 0.010, 0.120
LEAST_BUFFER = 30.0
_GRID_S = 0.1  # of a wandering capacity


@dataclass
class Links:
    """Many links, each an element of every array."""

    capacity: Array
    """Packets in each STEP_S; one row for each link."""
    delay_steps: NDArray[np.int64]
    """RTT without a queue."""
    buffer: Array
    """Packets."""
    loss: Array
    """Share of packets lost at random."""
    burst_steps: NDArray[np.int64]
    """ACKs arrive together each so many steps, as over an uplink that waits for grants."""
    hold_chance: Array
    """Chance in a step that all ACKs are held, as behind a radio retransmission."""
    hold_steps: NDArray[np.int64]
    """The duration."""
    target_s: Array
    """RTT that an agent with a target may have."""

    def replace(self, rows: NDArray[np.bool_], others: Links) -> None:
        """Put the links of `others` at those rows."""
        for one in fields(self):
            getattr(self, one.name)[rows] = getattr(others, one.name)


def draw(
    count: int,
    steps: int,
    random: np.random.Generator,
    *,
    most_hold_chance: float = 0.3,
    hold_steps: tuple[int, int] = (1, 5),
) -> Links:
    """Return links for episodes of that many steps; half of them hold ACKs as radio does."""
    mean = _log_uniform(random, LEAST_MBPS, MOST_MBPS, count) * 1e6 / PACKET_BITS
    rtt_s = _log_uniform(random, LEAST_RTT_S, MOST_RTT_S, count)
    in_pipe = np.maximum(mean * rtt_s, LEAST_BUFFER)
    lossy = random.random(count) < 0.2
    radio = random.random(count) < 0.5
    return Links(
        capacity=mean[:, None] * STEP_S * _shapes(count, steps, random),
        delay_steps=np.round(rtt_s / STEP_S).astype(np.int64),
        buffer=np.maximum(in_pipe * _log_uniform(random, 0.5, 20.0, count), LEAST_BUFFER),
        loss=np.where(lossy, _log_uniform(random, 1e-5, 0.01, count), 0.0),
        burst_steps=np.where(radio, random.integers(1, 7, count), 1),
        hold_chance=np.where(radio, random.uniform(0.0, most_hold_chance, count), 0.0),
        hold_steps=random.integers(*hold_steps, count),
        target_s=rtt_s * _log_uniform(random, 1.25, 4.0, count),
    )


def _log_uniform(random: np.random.Generator, least: float, most: float, count: int) -> Array:
    return np.exp(random.uniform(np.log(least), np.log(most), count))


def _shapes(count: int, steps: int, random: np.random.Generator) -> Array:
    """Return capacities as multiples of their mean: constant, stepping, or wandering like radio."""
    shapes = np.ones((count, steps))
    kinds = random.integers(0, 4, count)
    for row, kind in enumerate(kinds):
        if kind == 1:
            shapes[row] = _stepping(steps, random)
        elif kind > 1:
            shapes[row] = _wandering(steps, random)
    return shapes


def _stepping(steps: int, random: np.random.Generator) -> Array:
    factors = np.ones(steps)
    for _ in range(random.integers(1, 5)):
        factors[random.integers(steps) :] = np.exp(random.uniform(np.log(0.25), np.log(2.5)))
    return factors


def _wandering(steps: int, random: np.random.Generator) -> Array:
    """A log-normal process that forgets with a random time constant, with outages now and then."""
    points = int(steps * STEP_S / _GRID_S) + 2
    kept = np.exp(-_GRID_S / np.exp(random.uniform(np.log(0.3), np.log(10.0))))
    deviation = random.uniform(0.1, 0.8)
    levels = np.empty(points)
    levels[0] = random.normal()
    noise = random.normal(size=points) * np.sqrt(1 - kept**2)
    for at in range(1, points):
        levels[at] = kept * levels[at - 1] + noise[at]
    rates = np.exp(deviation * levels - deviation**2 / 2)
    if random.random() < 0.3:
        begin = random.integers(points)
        rates[begin : begin + random.integers(1, 6)] = 0.0
    factors: Array = np.interp(np.arange(steps) * STEP_S, np.arange(points) * _GRID_S, rates)
    return factors
