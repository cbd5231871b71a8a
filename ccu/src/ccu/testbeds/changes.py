# SPDX-License-Identifier: Apache-2.0
"""The changes that were made during a run, as run.json has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.fields import CC


@dataclass(frozen=True)
class Made:
    """The changes of the hosts at an instant."""

    utc_ns: int
    ccs: Mapping[str, str] = field(default_factory=dict)
    """The congestion control of each open flow afterwards, as reported by the kernel."""


def record(
    experiment: Experiment, traffic_start_utc_ns: int, made: Mapping[float, Made]
) -> dict[str, Any]:
    """Return the key `changes` of run.json; nothing if nothing was to change.

    `made`: what the hosts did, by seconds of traffic. Raises RunFailed if a flow has another
    congestion control than it was to have.
    """
    changes = []
    for change in experiment.changes:
        planned_utc_ns = traffic_start_utc_ns + round(change.at_s * 1e9)
        hosts = made.get(change.at_s, Made(planned_utc_ns))
        said: dict[str, Any] = {}
        if change.key == CC.key:
            wanted = experiment.at(change.at_s).flows[0].cc
            for flow, cc in hosts.ccs.items():
                if cc != wanted:
                    why = f"flow {flow}: {cc} was seen after {change}"
                    raise RunFailed("congestion control", why)
            said = {"cc_read_back": dict(hosts.ccs)}
            if isinstance(change.value, Mapping):  # of a run that is made again
                said["value"] = wanted
        by_hosts = change.key == CC.key or change.parameter
        utc_ns = hosts.utc_ns if by_hosts else planned_utc_ns
        changes.append({**change.model_dump(mode="json"), "utc_ns": utc_ns, **said})
    return {"changes": changes} if changes else {}
