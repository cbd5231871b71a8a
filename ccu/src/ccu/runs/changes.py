# SPDX-License-Identifier: Apache-2.0
"""The changes of a run in real time, made when they are due."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ccu import congestion
from ccu.host import open_sockets
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site, Testbed, changes
from ccu.traffic.flow import Flow


class Changes:
    """The changes of the hosts; the link has its own in its configuration."""

    def __init__(self, site: Site, testbed: Testbed, flows: Sequence[Flow]) -> None:
        """Begin to count when the traffic starts: now."""
        self._site, self._flows = site, flows
        self._waiting = list(site.experiment.stages[1:])
        self._made: dict[float, changes.Made] = {}
        self._start_utc_ns = time.time_ns()
        if self._waiting:
            testbed.start_changes()

    @property
    def next_s(self) -> float | None:
        """When the next one is due, in seconds of traffic."""
        return self._waiting[0].at_s if self._waiting else None

    def make(self, elapsed_s: float) -> None:
        """Make those that are due. Raises RunFailed."""
        while self.next_s is not None and self.next_s <= elapsed_s:
            stage = self._waiting.pop(0)
            for name, of in congestion.changed_parameters(self._site.experiment):
                if of.at_s == stage.at_s:
                    congestion.changed(self._site, name, of)
            ccs = {}
            if any(one.key == "cc" and one.at_s == stage.at_s for one in self._changes):
                ccs = self._switch(stage.experiment)
            self._made[stage.at_s] = changes.Made(time.time_ns(), ccs)

    @property
    def _changes(self) -> tuple[Any, ...]:
        return self._site.experiment.changes

    def _switch(self, experiment: Experiment) -> dict[str, str]:
        """Give every open flow the congestion control of the experiment."""
        name = experiment.flows[0].cc
        ccs = {}
        for flow in self._flows:
            if flow.client is None or flow.client.ended:
                continue
            pid = flow.client.popen.pid
            try:
                now = open_sockets.set_congestion_control(pid, flow.sending_port, name)
            except OSError as error:
                why = f"flow {flow.id}: {name} could not be set ({error.strerror})"
                raise RunFailed("congestion control", why) from None
            if now is not None:
                ccs[flow.id] = now
        return ccs

    def record(self) -> dict[str, Any]:
        """Return the key `changes` of run.json. Raises RunFailed."""
        return changes.record(self._site.experiment, self._start_utc_ns, self._made)
