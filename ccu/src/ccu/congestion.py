# SPDX-License-Identifier: Apache-2.0
"""Which congestion controls there are, and how one comes into the kernel for a run."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu import programs
from ccu.errors import Refused
from ccu.experiment import Experiment
from ccu.testbeds import Site

REMINIS = "reminis"
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_SWITCHES = {  # --cc-param NAME=VALUE: the loader's switch
    ("pacing", "off"): "--no-pacing",
    ("nde", "off"): "--no-nde",
    ("nde", "mean"): "--nde-mean",
    ("ps", "off"): "--no-ps",
    ("cm", "off"): "--no-cm",
    ("aimd", "off"): "--no-aimd",
    ("ewma", "on"): "--ewma",
    ("fresh_rtt", "off"): "--stale-rtt",
    ("jump_to_4", "on"): "--jump-to-4",
}
_VALUES = {"dtt": "--dtt", "dtt_factor": "--dtt-factor", "seed": "--seed"}


def in_kernel() -> set[str]:
    return set(_AVAILABLE.read_text().split())


def as_modules() -> set[str]:
    """Those that the kernel would load by itself when root asks for one (tcp_cong.c)."""
    folder = Path("/lib/modules", platform.release(), "kernel/net/ipv4")
    names = (re.match(r"tcp_(\w+)\.ko", file.name) for file in folder.glob("tcp_*.ko*"))
    return {found[1] for found in names if found} - {"diag"}


def reminis_trouble() -> str | None:
    """Why Reminis cannot run here, with the mend; None if it can."""
    if REMINIS in in_kernel() | as_modules():
        return None
    loader = programs.find("reminis-bpf")
    if loader is None:
        return f"reminis-bpf is not built; {programs.mend('reminis-bpf')}"
    status = _status(loader)
    if status.get("btf") is False:
        return (
            "this kernel tells no BTF (/sys/kernel/btf/vmlinux), which BPF needs; boot a kernel "
            "with CONFIG_DEBUG_INFO_BTF=y, or build and load the module in kmod/"
        )
    # Without root nobody can tell; `ccu run` asks for root by itself.
    if status.get("root") and not status.get("usable"):
        return f"{status.get('why_not')}; the module in kmod/ is the other way"
    return None


def _status(loader: Path) -> dict[str, Any]:
    said = subprocess.run([loader, "status"], capture_output=True, text=True, timeout=30)
    try:
        found: dict[str, Any] = json.loads(said.stdout)
    except ValueError:
        return {"root": True, "usable": False, "why_not": said.stderr.strip() or "no answer"}
    return found


def available() -> dict[str, str]:
    """Every congestion control that can run here, and where it comes from."""
    found = dict.fromkeys(sorted(as_modules()), "kernel module")
    found |= dict.fromkeys(sorted(in_kernel()), "kernel")
    if REMINIS not in found and reminis_trouble() is None:
        found[REMINIS] = "BPF program"
    return found


def check(experiment: Experiment) -> None:
    """Raises Refused if a congestion control is not to be had, or does not take the parameters."""
    if experiment.traffic.kind == "udp":
        if experiment.cc_params:
            raise Refused("--cc-param: UDP has no congestion control; leave it out")
        return
    there = available()
    for plan in experiment.flows:
        if plan.cc in there:
            continue
        others = ", ".join(there)
        trouble = reminis_trouble() if plan.cc == REMINIS else None
        if trouble:
            raise Refused(f"--cc: reminis cannot run here: {trouble}. Others that can: {others}")
        raise Refused(
            f"--cc: no congestion control {plan.cc!r} on this machine; there are {others}"
        )
    if experiment.cc_params:
        if there.get(REMINIS) != "BPF program" or REMINIS not in experiment.cc.split("+"):
            raise Refused(f"--cc-param: {experiment.cc} takes none; reminis as BPF program does")
        _loader_options(experiment.cc_params)


def _loader_options(params: dict[str, str]) -> list[str]:
    options = []
    for name, value in params.items():
        if name in _VALUES:
            options += [_VALUES[name], value]
        elif (name, value) in _SWITCHES:
            options.append(_SWITCHES[name, value])
        else:
            switches = ", ".join(f"{key}={choice}" for key, choice in _SWITCHES)
            raise Refused(
                f"--cc-param: reminis has no {name}={value}; write dtt=30ms, dtt_factor=1.5, "
                f"seed=N, or one of {switches}"
            )
    return options


@contextmanager
def loaded(site: Site) -> Iterator[dict[str, Any]]:
    """The implementation of each congestion control, in the kernel while the context lasts."""
    names = [] if site.experiment.traffic.kind == "udp" else site.experiment.cc.split("+")
    needs_bpf = REMINIS in names and REMINIS not in in_kernel() | as_modules()
    found = {name: _kernels_own(name) for name in names if not (needs_bpf and name == REMINIS)}
    if not needs_bpf:
        yield found
        return
    params = {"seed": str(site.experiment.seed % 2**32), **site.experiment.cc_params}
    trace = ["--trace", str(site.raw / f"cc-{REMINIS}.csv")]
    command = [programs.require("reminis-bpf"), "run", *_loader_options(params), *trace]
    site.belongings.reminis_bpf = True
    site.belongings.save()
    loader = site.supervisor.start("reminis-bpf", command, stage="congestion control")
    ready = site.supervisor.wait_ready_event(loader)
    ready.pop("event")
    found[REMINIS] = {"kind": "bpf", "parameters": ready}
    try:
        yield found
    finally:
        site.supervisor.stop(loader)


def _kernels_own(name: str) -> dict[str, Any]:
    module = Path("/sys/module", f"tcp_{name}")
    parameters = {}
    for file in sorted((module / "parameters").glob("*")):
        if os.access(file, os.R_OK):
            parameters[file.name] = file.read_text().strip()
    # Only what was loaded has a state; what is built in has parameters at most.
    kind = "module" if (module / "initstate").exists() or name not in in_kernel() else "kernel"
    return {"kind": kind, "parameters": parameters}
