# SPDX-License-Identifier: Apache-2.0
"""iperf3 at both ends of a phone's flow: the phone's is client, ours stands behind the gate."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import socket
from functools import partial
from pathlib import Path
from typing import Protocol

from ccu.host import programs
from ccu.host.namespace import listens_here
from ccu.spec.experiment import Direction
from ccu.testbeds import Site, Testbed
from ccu.testbeds.phone.options import phone_options


class _Flow(Protocol):
    @property
    def direction(self) -> Direction: ...
    @property
    def reached_at(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def duration_s(self) -> int: ...
    @property
    def is_manual(self) -> bool: ...


def of(site: Site, testbed: Testbed, flow: _Flow) -> str | None:
    """The phone's iperf3, if it is to carry this flow: both ends have one, and nobody wants nc."""
    settings = phone_options(site.experiment)
    found: str | None = testbed.hosts["ue"].get("iperf3")
    if flow.is_manual or settings.load == "nc" or found is None:
        return None
    if settings.load == "auto" and programs.find("iperf3") is None:
        return None
    programs.require("iperf3")
    return found


def serve(site: Site, flow_id: str) -> int:
    """Our iperf3 for one test, on a port of the loopback, without any rights."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [programs.require("iperf3"), "-s", "-1", "-J", "-B", "127.0.0.1", "-p", str(port)]
    process = site.supervisor.start(
        f"phone-iperf3-{flow_id}", [*_as_nobody(), *command], stage="traffic", lasting=False
    )
    site.supervisor.wait_for(process, partial(listens_here, port), f"listening on port {port}")
    return port


def _as_nobody() -> list[str]:
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    who = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    rights = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--pdeathsig=TERM"]
    return [programs.require("setpriv"), *who, *rights, "--"]


def script(flow: _Flow, iperf3: str, token: str) -> str:
    """For the phone's shell. The sender ends nc when it has read the token."""
    host = shlex.quote(flow.reached_at)
    reverse = " -R" if flow.direction == "dl" else ""
    return (
        f"echo {token} | nc {host} {flow.port} > /dev/null; "
        f"exec {shlex.quote(iperf3)} -c {host} -p {flow.port} -t {flow.duration_s} -J{reverse}"
    )


def output(site: Site, flow_id: str) -> Path:
    """What the phone's iperf3 says (docs/run-directory.md)."""
    return site.raw / f"iperf3-{flow_id}-client.json"


def error_in(said: Path | None) -> str | None:
    """iperf3's own word of what went wrong."""
    try:
        told = json.loads(said.read_text()) if said else {}
    except (OSError, ValueError):
        return None
    return str(told["error"]) if isinstance(told, dict) and told.get("error") else None
