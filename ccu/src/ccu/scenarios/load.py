# SPDX-License-Identifier: Apache-2.0
"""The number of packets that cross the link in a run, which sets its cost and disk space."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from functools import cache
from statistics import fmean
from typing import NamedTuple

from ccu.scenarios.library import locate, seed_of
from ccu.scenarios.link_config import check
from ccu.scenarios.play import played
from ccu.scenarios.settings import gives_capacity
from ccu.spec.experiment import Direction, Experiment
from ddu.console.problems import CommandError

# A link that changes slowly, with dead zones, needs minutes for its mean rate, and links that are
# drawn differ: the mean over some of them. More would take longer than some runs.
_PLAYED_S = 200.0
_LINKS = 4
_INTERVAL_MS = 1000
_OF_THE_LINK = {
    *("scenario", "prb", "numerology", "carrier_ghz", "duplex", "mcs_table"),
    *("gnb_profile", "radio", "testbed"),
}
# Of a link that cannot be asked: the mean over slots that are all full is about twice this.
_BPS_PER_PRB = 1.1e6
_WITH_RETRANSMISSIONS = 1.5


class Load(NamedTuple):
    """The traffic of a run if links are full, unless it is less."""

    packets: float
    """Data packets of both directions."""
    lasts_s: float
    """Until the duration is over, or a volume is sent at the link's rate."""


def load(experiment: Experiment) -> Load:
    """Return about what the run carries."""
    bps = sum(_rate_bps(experiment, direction) for direction in experiment.directions)
    lasts_s = experiment.duration_s
    if bps and (volume := experiment.traffic.most_bytes) is not None:
        senders = len(experiment.flows) * len(experiment.directions)
        lasts_s = min(lasts_s, 8.0 * volume * senders / bps)
    return Load(bps * lasts_s / 8 / experiment.mtu_bytes, lasts_s)


def most_packets(experiment: Experiment) -> float:
    """Return how many data packets of both directions cross the link at most: if each slot of the
    radio is full, or in all of the capacity that the scenario gives."""
    bps = sum(_most_bps(experiment, direction) for direction in experiment.directions)
    crossing_bytes = bps * experiment.duration_s / 8
    if (volume := experiment.traffic.most_bytes) is not None:
        senders = len(experiment.flows) * len(experiment.directions)
        crossing_bytes = min(crossing_bytes, _WITH_RETRANSMISSIONS * volume * senders)
    return crossing_bytes / experiment.mtu_bytes


def _rate_bps(experiment: Experiment, direction: Direction) -> float:
    capacity_bps = _capacity_bps(experiment, direction, min(experiment.duration_s, _PLAYED_S))
    return _limited_bps(capacity_bps, experiment, direction)


def _most_bps(experiment: Experiment, direction: Direction) -> float:
    capacity_bps = _BPS_PER_PRB * experiment.prb
    with suppress(CommandError):  # A scenario that cannot be played is refused elsewhere.
        if gives_capacity(file := locate(experiment.scenario, experiment.seed)):
            capacity_bps = _mean_bps(experiment, direction, experiment.duration_s, experiment.seed)
        elif radio := check(experiment, file):
            capacity_bps = radio["bound_bps"][direction]
    return _limited_bps(capacity_bps, experiment, direction)


def _limited_bps(capacity_bps: float, experiment: Experiment, direction: Direction) -> float:
    """Return what the traffic takes of a capacity, within the path's rate."""
    rates_bps = [capacity_bps]
    if (rate_mbps := getattr(experiment.path, direction).rate_mbps) is not None:
        rates_bps.append(rate_mbps * 1e6)
    if (rate_bps := experiment.traffic.offered_bps) is not None:
        rates_bps.append(rate_bps * len(experiment.flows))
    return min(rates_bps)


def _capacity_bps(experiment: Experiment, direction: Direction, played_s: float) -> float:
    """Return the mean capacity of the experiment's link, over some that its scenario draws."""
    seeds = range(1, 2 if seed_of(experiment.scenario) is not None else 1 + _LINKS)
    rates_bps: list[float] = []
    try:
        for seed in seeds:
            rates_bps.append(_mean_bps(experiment, direction, played_s, seed))
            if rates_bps == 2 * rates_bps[:1]:  # Nothing is random.
                break
    except CommandError:  # What is wrong with the experiment is said where it is checked.
        return _BPS_PER_PRB * experiment.prb
    return fmean(rates_bps)


def _mean_bps(experiment: Experiment, direction: Direction, played_s: float, seed: int) -> float:
    """Return the mean capacity of a link from its begin on. Raises CommandError."""
    return _means_bps(experiment.model_dump_json(include=_OF_THE_LINK), seed, played_s)[direction]


@cache
def _means_bps(link: str, seed: int, played_s: float) -> dict[Direction, float]:
    """`link`: JSON of an experiment with nothing else."""
    planned = Experiment.model_validate_json(
        f'{{"flows": [{{"cc": "cubic"}}], "seed": {seed}, {link[1:]}'
    )
    rows = list(csv.DictReader(io.StringIO(played(planned, played_s, _INTERVAL_MS))))
    ways: tuple[Direction, ...] = ("dl", "ul")
    return {way: 1e6 * fmean(float(row[f"{way}_capacity_mbps"]) for row in rows) for way in ways}
