# SPDX-License-Identifier: Apache-2.0
"""How long a run in virtual time takes: its cost follows slots and packets."""

from __future__ import annotations

from ccu.scenarios.load import packets
from ccu.spec.experiment import Experiment

# Fitted to the table in docs/virtual-time.md, on one core: the start of the kernel and of ccu's
# checks, a second of model and samples, a packet with its ACKs and captures.
_START_S = 0.5
_SECOND_S = 0.006
_PACKET_S = 1.9e-6


def expected_s(experiment: Experiment) -> float:
    """Return about how long the run takes, in seconds."""
    of_model_s = _SECOND_S * experiment.duration_s * max(1, experiment.ues)
    return _START_S + of_model_s + _PACKET_S * packets(experiment)
