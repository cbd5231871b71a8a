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
from ccu.spec.socket_buffers import socket_buffer_sysctls
from ccu.testbeds.virtual_time import kernel
from ccu.testbeds.virtual_time.limit import unfinished
from ccu.testbeds.virtual_time.plan import SERVER_ADDRESS, TESTBED, command, sysctls
from ddu.console.problems import refusal
from ddu.importing.run import import_folder

_LISTENING_S = 0.5
"""The client starts when the server has had this time to listen, in virtual seconds."""
_OUTPUT = "client-output"
_FIX = "Give link(…) a longer duration, or the client less to do"
_CAPTURES = "captures"
_HOSTS = ("server", "ue")
_NOT_OF_THE_LINK = {
    "testbed": "leave it out: the programs run in virtual time",
    "traffic": "leave it out: the programs are the traffic",
    "flows": "leave it out: the programs are the traffic",
    "cc_params": "leave it out, or use ccu run",
}
"""Keys of an experiment that have no meaning here, and what to do instead."""
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
    rtt_ms: float
    """The least RTT of the path that the link was given."""

    @cached_property
    def run(self) -> ddu.Run:
        """Return the run directory that `ddu` makes of the captures when it is first asked for.

        Raises RefusedError if the programs transferred too little for TCP's numbers, or in the
        other direction.
        """
        captures = self.folder / _CAPTURES
        hosts = {host: captures / f"{host}.pcap" for host in _HOSTS}
        runs = self.folder / "runs"
        (made,) = import_folder(captures, runs, self.direction, hosts, one_clock=True)
        run = ddu.open_run(made.path)
        rtt_ms = run.summary["rtt_ms"]["p50"]
        if rtt_ms is not None and rtt_ms < self.rtt_ms / 2:  # as the receiver sees it, of its ACKs
            other = "ul" if self.direction == "dl" else "dl"
            rule = f"the data does not go {self.direction}: its RTT there is {rtt_ms:.3g} ms"
            raise refusal(rule, f'write direction="{other}"', key="direction")
        return run

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
    for key in sorted(keys.keys() & _NOT_OF_THE_LINK):
        raise refusal("not a key of a link", _NOT_OF_THE_LINK[key], key=key)
    for program in (client, server):
        if isinstance(program, str):
            raise refusal(f"{program!r} is one text", "write a list of words", key="link")
    there = kernel.examine().congestion_controls
    experiment = resolve_arguments({"testbed": TESTBED, "cc": "cubic", **keys})
    if lacking := sorted({*experiment.servers_ccs} - there):
        rule = f"the kernel of the virtual testbed has no {lacking[0]}"
        raise refusal(rule, f"choose one of {', '.join(sorted(there))}", key="cc")
    if any(stage.experiment.flows != experiment.flows for stage in experiment.stages):
        raise refusal("changes the congestion control", "use ccu run for that", key="changes")
    folder.mkdir(parents=True)
    scenario = scenarios.locate(experiment.scenario, experiment.seed)
    link_config.write(experiment, scenario, folder)
    plan = folder / "plan.json"
    content = _plan(experiment, client, server, working_folder)
    if "socket_buffer" in keys:  # otherwise Linux's own, as where the programs are at home
        content["sysctls"] |= socket_buffer_sysctls(experiment.socket_buffer)
    plan.write_text(json.dumps(content))
    ran = subprocess.run(command(plan), capture_output=True, encoding="utf-8", errors="replace")
    output = folder / _OUTPUT
    said = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    printed = [said, ran.stderr]
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
    rtt_ms = min(stage.experiment.rtt_ms for stage in experiment.stages)
    return Session(said, folder, direction, rtt_ms)


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
    return "\n".join([f"{shlex.join(map(str, program))}: {why}", *texts])


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
        "command": [*there, *map(str, server or ())],
        "service": True,
    }
    asked = {
        "name": _CLIENT,
        "host": "ue",
        "command": [*there, *map(str, client)],
        "start_s": _LISTENING_S if server else 0.0,
        "output": _OUTPUT,
    }
    (cc,) = experiment.servers_ccs
    return {
        "schema": "nr-link-virtual/1",
        "link": "link.yaml",
        "seed": experiment.seed,
        "sysctls": sysctls(experiment) | {"net.ipv4.tcp_congestion_control": cc},
        "programs": [served, asked] if server else [asked],
        "capture": {
            "bytes": experiment.snaplen_bytes,
            "files": {host: f"{host}.pcap" for host in _HOSTS},
        },
        "limit_s": experiment.duration_s,
    }
