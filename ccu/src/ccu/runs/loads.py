# SPDX-License-Identifier: Apache-2.0
"""What makes the traffic of a run: iperf3 at both ends, or a phone and our sender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ccu.runs import traffic
from ccu.runs.traffic import Flow
from ccu.spec.experiment import PHONE, Experiment
from ccu.testbeds import Site, Testbed


class Load(Protocol):
    """The module of a kind of traffic."""

    def plan(self, experiment: Experiment, /) -> Sequence[Flow]:
        """The flows, known before anything starts."""
        ...

    def listen(self, site: Site, testbed: Testbed, flows: Sequence[Flow], /) -> None:
        """The ends that wait for connections, waiting."""
        ...

    def connect(self, site: Site, testbed: Testbed, flow: Flow, /) -> None:
        """The end that connects, started."""
        ...

    def look(self, site: Site, testbed: Testbed, flow: Flow, started_s: float, /) -> None:
        """Called time and again from `connect` on. Raises RunFailed when a flow cannot end well."""
        ...

    def finished(self, flow: Flow, /) -> bool: ...

    def problems(self, flow: Flow, /) -> list[str]:
        """Sentences; with any, the run is degraded."""
        ...

    def received_bytes(self, flow: Flow, /) -> int:
        """Payload that has arrived. Raises RunFailed if the programs tell an error."""
        ...


def of(experiment: Experiment) -> Load:
    """The one that the experiment's testbed has."""
    if experiment.testbed == PHONE:
        from ccu.testbeds.phone import traffic as phone_traffic

        return phone_traffic
    return traffic
