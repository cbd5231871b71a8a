# SPDX-License-Identifier: Apache-2.0
"""The checks of OpenAirInterface in `ccu doctor`."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from ccu.host.findings import Finding, program, refused
from ccu.spec.experiment import Experiment
from ccu.testbeds.oai import docker, preflight, real_time
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.lockstep import cores
from ccu.testbeds.oai.options import oai_options
from ccu.testbeds.oai.plans import plan_of
from ccu.testbeds.oai.testbed import images_check
from ddu.console.problems import Problem, RefusedError


def examine(experiment: Experiment) -> list[Finding]:
    """Check Docker or LXC, the images, the kernel and the radio. Changes nothing."""
    plan = plan_of(experiment)
    findings = [program("ping")]
    if oai_options(experiment).runtime == "docker":
        findings += [_compose(), _daemon()]
    findings += _refusals(f"images of {plan.version}", images_check(experiment))
    if plan.core != "none":
        findings.append(_sctp())
    findings.append(_real_time(plan))
    # In lockstep the hosts' link adds the path's delay.
    findings.append(_cores(experiment) if oai_options(experiment).lockstep else _netem())
    if plan.usrp:
        findings.append(_trouble(f"USRP {plan.usrp.model}", preflight.usrp_trouble(plan.usrp)))
        findings.append(_trouble("CPU governor", preflight.governor_trouble()))
        findings += [_trouble("ports", one) for one in preflight.port_troubles() or (None,)]
        findings.append(_memory_locks())
    return findings


def _refusals(name: str, check: Callable[[], None]) -> list[Finding]:
    """Return a finding for each problem, with its fix."""
    try:
        check()
    except RefusedError as error:
        return refused(name, error)
    return [Finding(name, True, "here")]


def _trouble(name: str, problem: Problem | None) -> Finding:
    if problem is None:
        return Finding(name, True, "no problem")
    return Finding(name, False, problem.rule, problem.fix)


def _compose() -> Finding:
    try:
        words = [*docker.command(), "compose", "version", "--short"]
    except RefusedError as error:
        return refused("docker compose", error)[0]
    completed = subprocess.run(words, capture_output=True, text=True)
    return Finding("docker compose", True, completed.stdout.strip())


def _daemon() -> Finding:
    try:
        words = [*docker.command(), "version", "--format", "{{.Server.Version}}"]
        completed = subprocess.run(words, capture_output=True, text=True)
    except RefusedError:
        return Finding("docker", False, "not found", "sudo apt-get install docker.io")
    if completed.returncode != 0:
        lines = completed.stderr.strip().splitlines() or ["no answer"]
        return Finding("docker", False, lines[-1], "start it: sudo systemctl start docker")
    return Finding("docker", True, completed.stdout.strip())


def _sctp() -> Finding:
    """Check for SCTP, the transport between gNB and AMF (TS 38.412)."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    except OSError:
        fix = (
            f"sudo modprobe sctp (Ubuntu: linux-modules-extra-{os.uname().release}), or --core none"
        )
        return Finding("SCTP", False, "not in this kernel: no gNB reaches its core", fix)
    return Finding("SCTP", True, "in this kernel")


def _real_time(plan: Plan) -> Finding:
    """Check whether gNB and UE may have real-time priority."""
    name = "real-time priority"
    granted = real_time.state()
    if granted:
        return Finding(name, True, "containers may have it, and gNB and UE get it")
    if granted is None:
        return Finding(name, False, "unknown", "run as root", needed=False)
    fix = "boot a kernel without CONFIG_RT_GROUP_SCHED, as distributions' are"
    detail = f"this kernel gives containers none: {real_time.WITHOUT}"
    return Finding(name, False, detail, fix, needed=plan.options.needs_real_time)


def _cores(experiment: Experiment) -> Finding:
    """Check whether there are enough cores for the UEs, which take turns with the gNB."""
    try:
        cores.check(experiment)
    except RefusedError as error:
        return refused("cores", error)[0]
    count = cores.usable()
    return Finding("cores", True, f"{count}, for up to {count * cores.UES_A_CORE} UEs in lockstep")


def _netem() -> Finding:
    """Check whether netem, which adds the path's delay, is loaded or can be."""
    release = os.uname().release
    known = Path("/sys/module/sch_netem").exists() or any(
        "sch_netem" in line
        for name in ("modules.builtin", "modules.dep")
        if (file := Path("/lib/modules", release, name)).exists()
        for line in file.read_text(errors="replace").splitlines()
    )
    detail = (
        "available" if known else "not in this kernel: --rtt adds no delay, and the verdict says so"
    )
    fix = "" if known else f"sudo apt-get install linux-modules-extra-{release} (Ubuntu)"
    return Finding("netem", known, detail, fix, needed=False)


def _memory_locks() -> Finding:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    ok = soft == resource.RLIM_INFINITY or soft >= 2**30
    detail = "unlimited" if soft == resource.RLIM_INFINITY else f"{soft / 2**20:.0f} MiB"
    fix = "" if ok else "ulimit -l unlimited, or LimitMEMLOCK=infinity for docker.service"
    return Finding("locked memory", ok, detail, fix, needed=False)
