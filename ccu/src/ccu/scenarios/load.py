# SPDX-License-Identifier: Apache-2.0
"""About how many packets cross the link in a run: what it costs, and how much it writes."""

from __future__ import annotations

import csv
import io
from functools import cache
from statistics import fmean
from typing import NamedTuple

from ccu.scenarios.library import seed_of
from ccu.scenarios.play import played
from ccu.spec.experiment import Direction, Experiment
from testbed_console.problems import CommandError

# A link that changes slowly, with dead zones, needs minutes for its mean rate, and links that are
# drawn differ: the mean over some of them. More would take longer than some runs.
_PLAYED_S = 200.0
_LINKS = 4
_INTERVAL_MS = 1000
_OF_THE_LINK = {
    *("scenario", "prb", "numerology", "carrier_ghz", "duplex", "mcs_table"),
    *("gnb_profile", "testbed"),
}
# Of a link that cannot be asked: the mean over slots that are all full is about twice this.
_BPS_PER_PRB = 1.1e6


class Load(NamedTuple):
    """What a run carries if links are full, unless the traffic is less."""

    packets: float
    """Data packets of both directions."""
    lasts_s: float
    """Until the duration is over, or a volume is sent at the link's rate."""


def load(experiment: Experiment) -> Load:
    """Return about what the run carries."""
    bps = sum(_rate_bps(experiment, direction) for direction in experiment.directions)
    lasts_s = experiment.duration_s
    if (volume := experiment.traffic.volume_bytes) is not None:
        senders = len(experiment.flows) * len(experiment.directions)
        lasts_s = min(lasts_s, 8.0 * volume * senders / bps)
    return Load(bps * lasts_s / 8 / experiment.mtu_bytes, lasts_s)


def _rate_bps(experiment: Experiment, direction: Direction) -> float:
    link, played_s = experiment.model_dump_json(include=_OF_THE_LINK), experiment.duration_s
    rates_bps = [_capacity_bps(link, direction, min(played_s, _PLAYED_S))]
    if (rate_mbps := getattr(experiment.path, direction).rate_mbps) is not None:
        rates_bps.append(rate_mbps * 1e6)
    if (rate_bps := experiment.traffic.rate_bps) is not None:
        rates_bps.append(rate_bps * len(experiment.flows))
    return min(rates_bps)


@cache
def _capacity_bps(link: str, direction: Direction, played_s: float) -> float:
    """Return the mean capacity of a link, given as JSON of an experiment with nothing else."""
    planned = Experiment.model_validate_json(f'{{"flows": [{{"cc": "cubic"}}], {link[1:]}')
    seeds = range(1, 2 if seed_of(planned.scenario) is not None else 1 + _LINKS)
    rates_mbps: list[float] = []
    try:
        for seed in seeds:
            of_link = planned.model_copy(update={"seed": seed})
            rows = csv.DictReader(io.StringIO(played(of_link, played_s, _INTERVAL_MS)))
            rates_mbps.append(fmean(float(row[f"{direction}_capacity_mbps"]) for row in rows))
            if rates_mbps == 2 * rates_mbps[:1]:  # Nothing is random.
                break
    except CommandError:  # What is wrong with the experiment is said where it is checked.
        return _BPS_PER_PRB * planned.prb
    return 1e6 * fmean(rates_mbps)
