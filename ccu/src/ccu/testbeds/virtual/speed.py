# SPDX-License-Identifier: Apache-2.0
"""The duration of a run in virtual time: its cost follows the rate of packets."""

from __future__ import annotations

from ccu.scenarios.load import load
from ccu.spec.experiment import Experiment
from ccu.testbeds.virtual_time import controls
from ddu.console.problems import RefusedError

# Robust least squares of the relative errors of CPU time over 306 runs of the campaigns' quick
# profiles and of 5 min, on one core: half of them within 10 %, 95 % between 0.74 and 1.33 of what
# they took. The start is that of the kernel and of ccu's checks. A packet costs less at higher
# rates, where more of them are handled at once. A policy takes 0.02 to 0.3 s for each second of
# reports, more on faster links.
_START_S = 0.12
_RATE_S = 3.4e-5
_RATE_POWER = 0.72
_POLICY_S = 0.08
# Wall-clock time for each second of CPU, of eight links (docs/virtual-time.md#speed): 1.2 to 1.6.
_WALL_RATIO = 1.3


def expected_s(experiment: Experiment) -> float:
    """Return about how long the run takes on a core that does nothing else, in seconds."""
    packets, lasts_s = load(experiment)
    of_ues_s = lasts_s * max(1, experiment.ues)
    a_second_s: float = _RATE_S * (packets / of_ues_s) ** _RATE_POWER
    cpu_s = _START_S + of_ues_s * a_second_s + _POLICY_S * lasts_s * _policies(experiment)
    return _WALL_RATIO * cpu_s


def _policies(experiment: Experiment) -> int:
    """Return how many of the congestion controls are programs beside the kernel."""
    try:
        there = controls.provided(experiment)
    except RefusedError:  # What is wrong with the experiment is said where it is checked.
        return 0
    own = [there[name].file for name in experiment.servers_ccs if name in there]
    return sum(file is not None and file.suffix == ".py" for file in own)
