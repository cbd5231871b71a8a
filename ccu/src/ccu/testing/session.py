# SPDX-License-Identifier: Apache-2.0
"""A server and a client of an application, run once over a link in virtual time."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

import ddu
from ccu import scenarios
from ccu.host.processes import ending_text
from ccu.scenarios import link_config
from ccu.scenarios.resolve import resolve_arguments
from ccu.spec.experiment import Direction, Experiment
from ccu.testbeds.virtual_time import kernel
from ccu.testbeds.virtual_time.limit import unfinished
from ccu.testbeds.virtual_time.plan import SERVER_ADDRESS, SYSCTLS, TESTBED, command
from ddu.console.problems import refusal
from ddu.importing.run import import_folder

_LISTENING_S = 0.5
"""The client starts when the server has had this time to listen, in virtual seconds."""
_OUTPUT = "client-output"
_FIX = "Give link(…) a longer duration, or the client less to do"
_CAPTURES = "captures"
_HOSTS = ("server", "ue")
_CLIENT, _SERVER = "client", "server"
"""The names of the programs in the plan, and in what nr-link reports."""


class ProgramFailed(AssertionError):  # noqa: N818 - a name that says what happened
    """The client or the server ended with an error; the message has what they printed."""


@dataclass(frozen=True)
class Session:
    """The output of a client, and what its TCP did."""

    output: str
    """Standard output of the client."""
    folder: Path
    """The captures, the plan and the link's files."""
    direction: Direction
    """The direction of the data."""

    @cached_property
    def run(self) -> ddu.Run:
        """Return the run directory that `ddu` makes of the captures when it is first asked for.

        Raises RefusedError if the programs transferred too little for TCP's numbers.
        """
        captures = self.folder / _CAPTURES
        hosts = {host: captures / f"{host}.pcap" for host in _HOSTS}
        runs = self.folder / "runs"
        (made,) = import_folder(captures, runs, self.direction, hosts, one_clock=True)
        return ddu.open_run(made.path)

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
    there = kernel.examine().congestion_controls
    experiment = resolve_arguments({"testbed": TESTBED, "cc": "cubic", **keys})
    if lacking := sorted({*experiment.servers_ccs} - there):
        rule = f"the kernel of the virtual testbed has no {lacking[0]}"
        raise refusal(rule, f"choose one of {', '.join(sorted(there))}", key="cc")
    folder.mkdir(parents=True)
    scenario = scenarios.locate(experiment.scenario, experiment.seed)
    link_config.write(experiment, scenario, folder)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(_plan(experiment, client, server, working_folder)))
    ran = subprocess.run(command(plan), capture_output=True, text=True)
    output = folder / _OUTPUT
    printed = [output.read_text(errors="replace") if output.exists() else "", ran.stderr]
    if ran.returncode:
        why = unfinished(folder, _FIX) or "the run failed"
        raise ProgramFailed(_said(client, why, printed))
    if failed := _failed(json.loads((folder / "virtual.json").read_text())["programs"]):
        name, code = failed
        which = client if name == _CLIENT else (server or ())
        raise ProgramFailed(_said(which, f"the {name} {ending_text(code)}", printed))
    separate = folder / _CAPTURES
    separate.mkdir()
    for host in _HOSTS:
        (folder / f"{host}.pcap").rename(separate / f"{host}.pcap")
    return Session(output.read_text(), folder, direction)


def _failed(programs: Sequence[dict[str, Any]]) -> tuple[str, int] | None:
    """Return the name and exit code of the first program that failed, None if none did.

    The programs stand in the order in which they ended. A server that still ran when the client
    had ended was ended by nr-link, so that its code says nothing.
    """
    for one in programs:
        if one["code"]:
            return one["name"], one["code"]
        if one["name"] == _CLIENT:
            return None
    return None


def _said(program: Sequence[str], why: str, printed: Sequence[str]) -> str:
    """Return what happened to the program, and what both programs printed."""
    texts = [text.strip() for text in printed if text.strip()]
    return "\n".join([f"{shlex.join(program)}: {why}", *texts])


def _plan(
    experiment: Experiment,
    client: Sequence[str],
    server: Sequence[str] | None,
    working_folder: Path,
) -> dict[str, Any]:
    there = ["env", "-C", str(working_folder), f"NR_LINK_SERVER={SERVER_ADDRESS}"]
    served = {
        "name": _SERVER,
        "host": "server",
        "command": [*there, *(server or ())],
        "service": True,
    }
    asked = {
        "name": _CLIENT,
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
            "files": {host: f"{host}.pcap" for host in _HOSTS},
        },
        "limit_s": experiment.duration_s,
    }
