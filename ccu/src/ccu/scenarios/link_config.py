# SPDX-License-Identifier: Apache-2.0
"""The configuration of nr-link, link.yaml, as docs/link-config.md defines it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import yaml

from ccu.scenarios import nr_link
from ccu.scenarios.library import locate, seed_of
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.fields import DROP_TAIL
from ccu.spec.gnb_profile import IDEAL
from ddu.console.problems import Problem, RefusedError, Where, refusal

_CHOICES = "Choose one of: "
_DIRECTIONS: tuple[Direction, ...] = ("dl", "ul")
CORE_DEVICE = "n6"

# The user did not write link.yaml: the keys of an experiment that set each of its keys.
_SET_BY = {
    "radio.prb": "prb",
    "radio.carrier_ghz": "carrier_ghz",
    "radio.duplex": "duplex",
    "radio.numerology": "numerology",
    "radio.mcs_table": "mcs_table",
    "radio.gnb_profile": "gnb_profile",
    "mtu_bytes": "mss_bytes",
    "path": "path",
    "path.delay_ms": "rtt_ms",
    "path.loss_ratio": "loss",
    "queue": "buffer",
    "queue.aqm": "aqm",
    "samples": "mac_interval_ms",
    "output.delays": "explain",
    "output.mac_pcap": "mac_pcap",
    "seed": "seed",
    "changes": "changes",
}


def ue_device(ue: int) -> str:
    """Return the name of a UE's link device, counted from 1; all are on one host."""
    return f"ue{ue}"


def ue_address(ue: int) -> str:
    """Return the address of a UE; the server has 10.45.0.1."""
    return f"10.45.0.{1 + ue}"


def link_config(experiment: Experiment, core_netns: str, ue_netns: str) -> dict[str, Any]:
    """Return the content of link.yaml. Paths are relative to the file's folder."""
    changes = list(_changes(experiment))
    duplex, seed = experiment.duplex, seed_of(experiment.scenario)
    return {
        "schema": "nr-link/1",
        "seed": experiment.seed,
        "mtu_bytes": experiment.mtu_bytes,
        "radio": {
            "carrier_ghz": experiment.carrier_ghz,
            "numerology": experiment.numerology,
            "prb": experiment.prb,
            "duplex": duplex if duplex == "fdd" else duplex.model_dump(),
            "layers": {"dl": 1, "ul": 1},
            "mcs_table": experiment.mcs_table,
            **_gnb(experiment),
            **experiment.radio,
        },
        "scenario": "scenario.yaml",
        **({} if seed is None else {"scenario_seed": seed}),
        "path": _paths(experiment),
        "queue": _queues(experiment),
        "samples": {"interval_ms": experiment.mac_interval_ms},
        "devices": {
            **({} if experiment.gro else {"gro": False}),
            "core": {"name": CORE_DEVICE, "netns": core_netns},
            "ue": [
                {"name": ue_device(ue), "netns": ue_netns, "addresses": [ue_address(ue)]}
                for ue in range(1, experiment.ues + 1)
            ],
        },
        "output": {
            "mac": "mac.csv",
            "link": "link.csv",
            "summary": "link-summary.json",
            **({"delays": "delays.npy"} if experiment.explain else {}),
            **({"mac_pcap": "mac.pcap"} if experiment.mac_pcap else {}),
        },
        **({"changes": changes} if changes else {}),
    }


def _paths(experiment: Experiment) -> dict[Direction, Any]:
    """Return the path of each direction; the radio's delay and loss are added to it."""
    return {
        direction: {
            "delay_ms": experiment.delay_ms(direction),
            "loss_ratio": getattr(experiment.loss, direction),
            **getattr(experiment.path, direction).model_dump(exclude_none=True),
        }
        for direction in _DIRECTIONS
    }


def _queues(experiment: Experiment) -> dict[Direction, Any]:
    """Return the RLC buffer of each direction, with its queue management."""
    return {
        direction: experiment.buffer_of(direction).model_dump(exclude_none=True)
        | _management(experiment)
        for direction in _DIRECTIONS
    }


def _changes(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Yield what changes of the link, at its times after the start of the traffic."""
    for before, after in pairwise(experiment.stages):
        parts = {
            name: part(after.experiment)
            for name, part in (("path", _paths), ("queue", _queues), ("prb", attrgetter("prb")))
            if part(before.experiment) != part(after.experiment)
        }
        if parts:
            yield {"at_s": after.at_s, **parts}


def _gnb(experiment: Experiment) -> dict[str, Any]:
    """Return the gNB's profile, which chooses its link adaptation too, or the ideal gNB's own."""
    if experiment.gnb_profile == IDEAL:
        return {"link_adaptation": {"olla": {"bler_target": 0.1}}}
    return {"gnb_profile": experiment.gnb_profile}


def _management(experiment: Experiment) -> dict[str, Any]:
    """Return the AQM with nr-link's defaults, and with ECN where the experiment negotiates it."""
    if experiment.aqm == DROP_TAIL:
        return {}
    return {"aqm": {experiment.aqm: {"ecn": True} if experiment.ecn else {}}}


def write(
    experiment: Experiment,
    scenario: Path,
    folder: Path,
    core_netns: str = "server",
    ue_netns: str = "ue",
) -> Path:
    """Write link.yaml, and the scenario beside it; return its path."""
    file = folder / "link.yaml"
    config = link_config(experiment, core_netns, ue_netns)
    file.write_text(yaml.safe_dump(config, sort_keys=False))
    copy_scenario(scenario, folder)
    return file


def copy_scenario(scenario: Path, folder: Path) -> None:
    """Copy a scenario that nr-link accepts as scenario.yaml, with the files that it names."""
    shutil.copyfile(scenario, folder / "scenario.yaml")
    for name in nr_link.scenario(scenario)["files"]:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(scenario.parent / name, target)


def check(experiment: Experiment, scenario: Path) -> dict[str, Any] | None:
    """Ask nr-link whether it can run with this; return the radio as it resolved it.

    Raises RefusedError with its answer.
    """
    narrows = any(change.key == "prb" for change in experiment.changes)
    if narrows and nr_link.scenario(scenario)["gives_capacity"]:
        rule = f"{experiment.scenario} gives capacity itself, and has no PRBs"
        raise refusal(rule, "choose a scenario with radio, or leave the change out", key="changes")
    with _named_by_the_user():
        return nr_link.radio(_playing(experiment, scenario))


def notice(experiments: Sequence[Experiment]) -> str:
    """Return nr-link's warnings about these experiments; a check refuses what it cannot run."""
    sentences: dict[str, None] = {}
    told_apart = {
        (one.scenario, json.dumps(one.radio, sort_keys=True)): one
        for one in experiments
        if "handover" in one.radio
    }
    for experiment in told_apart.values():
        with suppress(RefusedError):
            scenario = locate(experiment.scenario, experiment.seed)
            for warning in nr_link.warnings(_playing(experiment, scenario)):
                key = _set_by(warning.where.key or "")
                sentences[f"warning: {warning.at(Where(key=key))}"] = None
    return "\n".join(sentences)


def capacity(experiment: Experiment, scenario: Path, seconds: float, interval_ms: int) -> str:
    """Return what `nr-link capacity` prints for the experiment's link. Raises RefusedError."""
    with _named_by_the_user():
        return nr_link.capacity(_playing(experiment, scenario), seconds, interval_ms)


def _playing(experiment: Experiment, scenario: Path) -> dict[str, Any]:
    """Return a configuration that plays the scenario where it is."""
    return link_config(experiment, "core", "ue") | {"scenario": str(scenario.absolute())}


@contextmanager
def _named_by_the_user() -> Iterator[None]:
    """Name in refusals the keys of the experiment in place of those of link.yaml."""
    try:
        yield
    except RefusedError as error:
        raise RefusedError(
            _named(one) if one.where.file == nr_link.STANDARD_INPUT else one
            for one in error.problems
        ) from None


def _named(problem: Problem) -> Problem:
    """Return the problem of a configuration as one of the experiment."""
    fix = problem.fix
    if (problem.where.key or "").endswith("aqm"):
        # A queue without management has no name in link.yaml.
        fix = fix.replace(_CHOICES, f"{_CHOICES}{DROP_TAIL}, ")
    return replace(problem, fix=fix, where=Where(key=_set_by(problem.where.key or "")))


def _set_by(key: str) -> str | None:
    """Return the key of the experiment that sets a key of link.yaml."""
    parts = [part for part in key.split(".") if part not in _DIRECTIONS]
    for length in range(len(parts), 0, -1):
        if own := _SET_BY.get(".".join(parts[:length])):
            return own
    return key or None
