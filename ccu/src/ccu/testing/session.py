# SPDX-License-Identifier: Apache-2.0
"""A server and a client of an application, run once over a link in virtual time."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import ddu
from ccu import scenarios
from ccu.scenarios import link_config
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Direction, Experiment
from ccu.testbeds.virtual_time import kernel
from ccu.testbeds.virtual_time.plan import (
    SERVER_ADDRESS,
    SYSCTLS,
    TESTBED,
    command,
)
from ddu.importing.run import import_folder

_LISTENING_S = 0.5
"""The client starts when the server has had this time to listen, in virtual seconds."""
_OUTPUT = "client-output"


class ProgramFailed(AssertionError):  # noqa: N818 - a name that says what happened
    """The client or the server ended with an error; the message has what they printed."""


@dataclass(frozen=True)
class Session:
    """The output of a client, and what its TCP did."""

    output: str
    """Standard output of the client."""
    folder: Path
    """The captures, the plan and the link's files."""
    run: ddu.Run
    """The run directory that `ddu` made of the captures."""

    @property
    def aligned(self) -> pd.DataFrame:
        """Return the aligned table: a row for each 20 ms and flow (docs/metrics.md)."""
        return self.run.aligned

    @property
    def flows(self) -> pd.DataFrame:
        """Return the table of flows."""
        return self.run.table("flows")

    @property
    def summary(self) -> dict[str, Any]:
        """Return the metrics of summary.json."""
        return self.run.summary


def run(
    folder: Path,
    client: Sequence[str],
    server: Sequence[str] | None,
    direction: Direction,
    working_folder: Path,
    keys: dict[str, Any],
) -> Session:
    """Run the client on the UE until it ends, and the server in the data network meanwhile.

    `keys`: those of an experiment (docs/experiment.md) that describe the link. Both programs have
    the server's address in NR_LINK_SERVER, and begin in `working_folder`. `direction`: where the
    data goes. Raises RefusedError, or ProgramFailed.
    """
    kernel.examine()
    experiment = resolve({"testbed": TESTBED, "cc": "cubic", **keys})
    folder.mkdir(parents=True)
    scenario = scenarios.locate(experiment.scenario, experiment.seed)
    link_config.write(experiment, scenario, folder)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(_plan(experiment, client, server, working_folder)))
    ran = subprocess.run(command(plan), capture_output=True, text=True)
    if ran.returncode:
        raise ProgramFailed(f"{shlex.join(client)}\n{ran.stderr.strip()}")
    captures = {"server": folder / "server.pcap", "ue": folder / "ue.pcap"}
    return Session((folder / _OUTPUT).read_text(), folder, _imported(folder, captures, direction))


def _plan(
    experiment: Experiment,
    client: Sequence[str],
    server: Sequence[str] | None,
    working_folder: Path,
) -> dict[str, Any]:
    there = ["env", "-C", str(working_folder), f"NR_LINK_SERVER={SERVER_ADDRESS}"]
    served = {"host": "server", "command": [*there, *(server or ())], "service": True}
    asked = {
        "host": "ue",
        "command": [*there, *client],
        "start_s": _LISTENING_S if server else 0.0,
        "output": _OUTPUT,
    }
    (cc,) = experiment.servers_ccs
    return {
        "schema": "nr-link-virtual/1",
        "link": "link.yaml",
        "seed": experiment.seed,
        "sysctls": SYSCTLS | {"net.ipv4.tcp_congestion_control": cc},
        "programs": [served, asked] if server else [asked],
        "capture": {
            "bytes": experiment.snaplen_bytes,
            "files": {"server": "server.pcap", "ue": "ue.pcap"},
        },
        "limit_s": experiment.duration_s,
    }


def _imported(folder: Path, captures: dict[str, Path], direction: Direction) -> ddu.Run:
    separate = folder / "captures"
    separate.mkdir()
    hosts = {host: file.rename(separate / file.name) for host, file in captures.items()}
    (made,) = import_folder(separate, folder / "runs", direction, hosts, one_clock=True)
    return ddu.open_run(made.path)
