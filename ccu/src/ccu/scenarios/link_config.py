# SPDX-License-Identifier: Apache-2.0
"""The configuration of nr-link, link.yaml, as docs/link-config.md defines it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ccu.host import programs
from ccu.spec import yaml_text
from ccu.spec.experiment import DROP_TAIL, Direction, Experiment
from ccu.spec.gnb_profile import IDEAL
from ddu.console.problems import CommandError, Problem, RefusedError, Where

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
    "seed": "seed",
}


def ue_device(ue: int) -> str:
    """Return the name of a UE's link device, counted from 1; all are on one host."""
    return f"ue{ue}"


def ue_address(ue: int) -> str:
    """Return the address of a UE; the server has 10.45.0.1."""
    return f"10.45.0.{1 + ue}"


def link_config(experiment: Experiment, core_netns: str, ue_netns: str) -> dict[str, Any]:
    """Return the content of link.yaml. Paths are relative to the file's folder."""
    queue: dict[Direction, Any] = {}
    path: dict[Direction, Any] = {}
    for direction in _DIRECTIONS:
        queue[direction] = experiment.buffer_of(direction).model_dump(exclude_none=True)
        queue[direction] |= _management(experiment)
        # The radio's delay and loss are added to these.
        path[direction] = {
            "delay_ms": experiment.delay_ms(direction),
            "loss_ratio": getattr(experiment.loss, direction),
            **getattr(experiment.path, direction).model_dump(exclude_none=True),
        }
    duplex = experiment.duplex
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
        "path": path,
        "queue": queue,
        "samples": {"interval_ms": experiment.mac_interval_ms},
        "devices": {
            "core": {"name": CORE_DEVICE, "netns": core_netns},
            "ue": [
                {"name": ue_device(ue), "netns": ue_netns, "addresses": [ue_address(ue)]}
                for ue in range(1, experiment.ues + 1)
            ],
        },
        "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
    }


def _gnb(experiment: Experiment) -> dict[str, Any]:
    """Return the gNB's profile, which chooses its link adaptation too, or the ideal gNB's own."""
    if experiment.gnb_profile == IDEAL:
        return {"link_adaptation": {"olla": {"bler_target": 0.1}}}
    return {"gnb_profile": experiment.gnb_profile}


def queue_managers() -> dict[str, str]:
    """Return the AQMs that nr-link has by name, each with its summary."""
    words = [programs.require("nr-link"), "list", "aqm"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {one["name"]: one["summary"] for one in json.loads(listed)}


def _management(experiment: Experiment) -> dict[str, Any]:
    """Return the AQM with nr-link's defaults, and with ECN where the experiment negotiates it."""
    if experiment.aqm == DROP_TAIL:
        return {}
    return {"aqm": {experiment.aqm: {"ecn": True} if experiment.ecn else {}}}


def write_config(config: dict[str, Any], file: Path) -> None:
    file.write_text(yaml.safe_dump(config, sort_keys=False))


def copy_scenario(scenario: Path, folder: Path, seed: int | None = None) -> None:
    """Copy the scenario as scenario.yaml, with the traces that it plays.

    `seed`: the channel realization that it describes; None means that of the run's seed.
    """
    copied = folder / "scenario.yaml"
    shutil.copyfile(scenario, copied)
    if seed is not None:
        with copied.open("a") as file:
            file.write(f"\nseed: {seed}\n")
    for trace in traces(scenario):
        target = folder / trace
        if (scenario.parent / trace).is_dir():
            target.mkdir(parents=True, exist_ok=True)  # nr-link refuses it as what it is.
        elif (scenario.parent / trace).is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(scenario.parent / trace, target)


def traces(scenario: Path) -> list[Path]:
    """Return the files that the scenario names inside its own folder; nr-link checks the others."""
    files: list[Path] = []

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key == "file" and isinstance(value, str):
                    files.append(Path(value))
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    try:
        visit(yaml_text.load(scenario.read_bytes()))
    except (OSError, yaml.YAMLError, ValueError):
        return []
    return [path for path in files if not path.is_absolute() and ".." not in path.parts]


def check(
    config: dict[str, Any], scenario: Path, seed: int | None = None, shown: Path | None = None
) -> None:
    """Ask nr-link whether it can run with this. Raises RefusedError with its answer.

    `shown`: the folder of the scenario that the answer names; None: its own.
    """
    ask("check", config, scenario, seed, shown=shown)


def ask(
    command: str,
    config: dict[str, Any],
    scenario: Path,
    seed: int | None = None,
    options: Sequence[str] = (),
    shown: Path | None = None,
) -> str:
    """Return what nr-link's `command` prints for a configuration. Raises RefusedError.

    `shown`: the folder of the scenario that problems name; None: its own.
    """
    with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
        file = Path(folder, "link.yaml")
        write_config(config, file)
        copy_scenario(scenario, Path(folder), seed)
        words = [programs.require("nr-link"), command, "--config", str(file), *options]
        answer = subprocess.run([*words, "--problems", "json"], capture_output=True, text=True)
    if answer.returncode == 0:
        return answer.stdout
    if answer.returncode != RefusedError.exit_code:
        raise CommandError(f"nr-link {command} failed: {answer.stderr.strip()}")
    named = scenario if shown is None else shown / scenario.name
    problems = map(Problem.from_json, json.loads(answer.stderr))
    raise RefusedError(one.at(_where(one.where, Path(folder), named)) for one in problems)


def _where(found: Where, folder: Path, scenario: Path) -> Where:
    """Return the place that the user knows for one in `folder`, which has copies."""
    file = folder / found.file if found.file else None
    if file is None or file.name == "link.yaml":
        return Where(key=_set_by(found.key or ""))
    if file.name == "scenario.yaml":
        return replace(found, file=str(scenario))
    # Its other files are copies of those beside the scenario.
    return replace(found, file=str(scenario.parent / file.relative_to(folder)))


def _set_by(key: str) -> str | None:
    """Return the key of the experiment that sets a key of link.yaml."""
    parts = [part for part in key.split(".") if part not in _DIRECTIONS]
    for length in range(len(parts), 0, -1):
        if own := _SET_BY.get(".".join(parts[:length])):
            return own
    return key or None
