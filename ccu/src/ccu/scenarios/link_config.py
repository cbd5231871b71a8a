# SPDX-License-Identifier: Apache-2.0
"""link.yaml, the configuration of nr-link, as docs/link-config.md defines it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml

from ccu.host import programs
from ccu.spec.errors import Refused
from ccu.spec.experiment import Direction, Experiment
from testbed_console.ending import message_of

_DIRECTIONS: tuple[Direction, ...] = ("dl", "ul")
CORE_DEVICE = "n6"

# The user did not write link.yaml: where nr-link names a place in it, we name what set it.
_OPTION = {
    "radio.prb": "--prb",
    "radio.carrier_ghz": "carrier_ghz",
    "radio.duplex": "duplex",
    "radio.numerology": "--numerology",
    "mtu_bytes": "--mss (MTU minus 40)",
    "path": "--rtt, --loss or path",
    "queue": "--buffer",
    "samples": "--mac-interval",
    "seed": "--seed",
}
_WRITTEN_AS = re.compile(rf"link\.yaml:\d+: ({'|'.join(map(re.escape, _OPTION))})[a-z_.]*")


def ue_device(ue: int) -> str:
    """The link's device at a UE, from 1. All are on one host, which has an address for each."""
    return f"ue{ue}"


def ue_address(ue: int) -> str:
    """Beside the server's 10.45.0.1."""
    return f"10.45.0.{1 + ue}"


def link_config(experiment: Experiment, core_netns: str, ue_netns: str) -> dict[str, Any]:
    """What nr-link runs with. Paths are relative to the file's folder."""
    queue: dict[Direction, Any] = {}
    path: dict[Direction, Any] = {}
    for direction in _DIRECTIONS:
        queue[direction] = experiment.buffer_of(direction).model_dump(exclude_none=True)
        queue[direction] |= _management(experiment)
        # What the radio adds comes on top of it.
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
            "link_adaptation": {"olla": {"bler_target": 0.1}},
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


def _management(experiment: Experiment) -> dict[str, Any]:
    """With its RFC's values, which nr-link has. DualPI2 marks whatever can be marked."""
    if experiment.aqm == "droptail":
        return {}
    return {"aqm": {experiment.aqm: {} if experiment.aqm == "dualpi2" else {"ecn": experiment.ecn}}}


def write_config(config: dict[str, Any], file: Path) -> None:
    file.write_text(yaml.safe_dump(config, sort_keys=False))


def copy_scenario(scenario: Path, folder: Path, seed: int | None = None) -> None:
    """Copies the scenario, as scenario.yaml, with the traces that it plays.

    `seed`: which of the channels that it describes; None: that of the run's seed.
    """
    copied = folder / "scenario.yaml"
    shutil.copyfile(scenario, copied)
    if seed is not None:
        with copied.open("a") as file:
            file.write(f"\nseed: {seed}\n")
    for trace in _traces(scenario):
        if (scenario.parent / trace).is_file():
            target = folder / trace
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(scenario.parent / trace, target)


def _traces(scenario: Path) -> list[Path]:
    """Files that the scenario names by a path inside its own folder; nr-link judges all else."""
    found: list[Path] = []

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key == "file" and isinstance(value, str):
                    found.append(Path(value))
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    try:
        visit(yaml.safe_load(scenario.read_text()))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    return [path for path in found if not path.is_absolute() and ".." not in path.parts]


def check(
    config: dict[str, Any], scenario: Path, seed: int | None = None, shown: Path | None = None
) -> None:
    """Asks nr-link whether it can run with this. Raises Refused with its answer.

    `shown`: the folder of the scenario that the answer names; None: its own.
    """
    with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
        file = Path(folder, "link.yaml")
        write_config(config, file)
        copy_scenario(scenario, Path(folder), seed)
        said = subprocess.run(
            [programs.require("nr-link"), "check", "--config", str(file)],
            capture_output=True,
            text=True,
        )
        if said.returncode != 0:
            named = scenario if shown is None else shown / scenario.name
            answer = in_the_users_words(said.stderr, folder, named)
            raise Refused(answer or f"nr-link check ended with code {said.returncode}")


def in_the_users_words(said: str, folder: str, scenario: Path) -> str:
    """What nr-link said of the files in `folder`, by the names and options of who asked."""
    answer = message_of(said, "nr-link")
    answer = answer.replace(f"{folder}/scenario.yaml", str(scenario))
    # Its other files are copies of those beside the scenario.
    answer = answer.replace(f"{folder}/link.yaml", "link.yaml")
    answer = answer.replace(f"{folder}/", f"{scenario.parent}/")
    return _WRITTEN_AS.sub(lambda found: _OPTION[found[1]], answer)
