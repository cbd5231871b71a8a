# SPDX-License-Identifier: Apache-2.0
"""iperf3 at both endpoints of a phone's flow: the phone's is the client, ours is behind the
gate."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import socket
from functools import partial
from pathlib import Path

from ccu.host import listening, programs
from ccu.host.setup import Setup
from ccu.testbeds.phone.flow import PhoneFlow
from ccu.testbeds.phone.options import phone_options
from ccu.traffic import RunningHosts


def of(site: Setup, testbed: RunningHosts, flow: PhoneFlow) -> str | None:
    """Return the phone's iperf3, if it carries this flow: both endpoints have one, and nc is not
    set."""
    settings = phone_options(site.experiment)
    program: str | None = testbed.hosts["ue"].get("iperf3")
    if flow.is_manual or settings.load == "nc" or program is None:
        return None
    if settings.load == "auto" and programs.find("iperf3") is None:
        return None
    programs.require("iperf3")
    return program


def serve(site: Setup, flow_id: str) -> int:
    """Start our iperf3 for one test, on a port of the loopback, without privileges."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [programs.require("iperf3"), "-s", "-1", "-J", "-B", "127.0.0.1", "-p", str(port)]
    process = site.supervisor.start(
        f"phone-iperf3-{flow_id}", [*_as_nobody(), *command], stage="traffic", lasting=False
    )
    listens = partial(listening.addresses, port)
    site.supervisor.wait_for(process, listens, f"listening on port {port}")
    return port


def _as_nobody() -> list[str]:
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    who = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    rights = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--pdeathsig=TERM"]
    return [programs.require("setpriv"), *who, *rights, "--"]


def script(flow: PhoneFlow, iperf3: str, token: str) -> str:
    """Return the script for the phone's shell. The sender ends nc when it has read the token."""
    host = shlex.quote(flow.reached_at)
    reverse = " -R" if flow.direction == "dl" else ""
    return (
        f"echo {token} | nc {host} {flow.port} > /dev/null; "
        f"exec {shlex.quote(iperf3)} -c {host} -p {flow.port} -t {flow.duration_s} -J{reverse}"
    )


def output(site: Setup, flow_id: str) -> Path:
    """Return the file of the phone's iperf3 output (docs/run-directory.md)."""
    return site.raw / f"iperf3-{flow_id}-client.json"


def error_in(output: Path | None) -> str | None:
    """Return iperf3's own error message, if any."""
    try:
        report = json.loads(output.read_text()) if output else {}
    except (OSError, ValueError):
        return None
    return str(report["error"]) if isinstance(report, dict) and report.get("error") else None
