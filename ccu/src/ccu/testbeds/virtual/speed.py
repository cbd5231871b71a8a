# SPDX-License-Identifier: Apache-2.0
"""How long a run in virtual time takes: its cost follows slots and packets."""

from __future__ import annotations

from ccu.scenarios.load import packets
from ccu.spec.experiment import Experiment

# Least squares of the relative errors over the table in docs/virtual-time.md, on one core: within
# 15 % of each row, but a third too low at 100 Mbit/s without radio. The start is that of the kernel
# and of ccu's checks, a second that of model and samples, a packet has its ACKs and captures.
_START_S = 0.15
_SECOND_S = 0.0045
_PACKET_S = 2.06e-6


def expected_s(experiment: Experiment) -> float:
    """Return about how long the run takes, in seconds."""
    of_model_s = _SECOND_S * experiment.duration_s * max(1, experiment.ues)
    return _START_S + of_model_s + _PACKET_S * packets(experiment)
