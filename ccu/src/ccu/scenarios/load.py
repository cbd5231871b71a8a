# SPDX-License-Identifier: Apache-2.0
"""About how many packets cross the link in a run: what it costs, and how much it writes."""

from __future__ import annotations

import csv
import io
from functools import cache
from statistics import fmean

from ccu.scenarios.play import played
from ccu.spec.experiment import Direction, Experiment
from testbed_console.problems import CommandError

# Enough of a scenario for its mean rate; more would take longer than some runs.
_PLAYED_S = 10.0
_INTERVAL_MS = 1000
_OF_THE_LINK = {
    *("scenario", "prb", "numerology", "carrier_ghz", "duplex", "mcs_table", "testbed"),
}
# Of a link that cannot be asked: the mean over slots that are all full is about twice this.
_BPS_PER_PRB = 1.1e6


def packets(experiment: Experiment) -> float:
    """Return the data packets of both directions: links are full, unless the traffic is less."""
    bps = sum(_rate_bps(experiment, direction) for direction in experiment.directions)
    bits = bps * experiment.duration_s
    if (volume := experiment.traffic.volume_bytes) is not None:
        senders = len(experiment.flows) * len(experiment.directions)
        bits = min(bits, 8.0 * volume * senders)
    return bits / 8 / experiment.mtu_bytes


def _rate_bps(experiment: Experiment, direction: Direction) -> float:
    rates_bps = [_capacity_bps(experiment.model_dump_json(include=_OF_THE_LINK), direction)]
    if (rate_mbps := getattr(experiment.path, direction).rate_mbps) is not None:
        rates_bps.append(rate_mbps * 1e6)
    if (rate_bps := experiment.traffic.rate_bps) is not None:
        rates_bps.append(rate_bps * len(experiment.flows))
    return min(rates_bps)


@cache
def _capacity_bps(link: str, direction: Direction) -> float:
    """Return the mean capacity of a link, given as JSON of an experiment with nothing else."""
    planned = Experiment.model_validate_json(f'{{"flows": [{{"cc": "cubic"}}], {link[1:]}')
    try:
        rows = csv.DictReader(io.StringIO(played(planned, _PLAYED_S, _INTERVAL_MS)))
        return 1e6 * fmean(float(row[f"{direction}_capacity_mbps"]) for row in rows)
    except CommandError:  # What is wrong with the experiment is said where it is checked.
        return _BPS_PER_PRB * planned.prb
