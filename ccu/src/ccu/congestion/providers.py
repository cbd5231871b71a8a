# SPDX-License-Identifier: Apache-2.0
"""Which congestion controls there are, and how one comes into the kernel for a run."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion import reminis, reminis_params, reminis_session
from ccu.spec.errors import Refused
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site
from testbed_console.suggestions import no_such

REMINIS = reminis.NAME
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def in_kernel() -> set[str]:
    return set(_AVAILABLE.read_text().split())


def as_modules() -> set[str]:
    """Those that the kernel would load by itself when root asks for one (tcp_cong.c)."""
    folder = Path("/lib/modules", platform.release(), "kernel/net/ipv4")
    names = (re.match(r"tcp_(\w+)\.ko", file.name) for file in folder.glob("tcp_*.ko*"))
    return {found[1] for found in names if found} - {"diag"}


def available() -> dict[str, str]:
    """Every congestion control that can run here, and where it comes from."""
    way, others = reminis.way(), _of_the_kernel()
    return others if way.trouble else {**others, REMINIS: way.summary}


def available_in_time() -> set[str]:
    """Those, and what only another run keeps from running now."""
    way, others = reminis.way(), set(_of_the_kernel())
    return others if way.trouble and not way.taken else {*others, REMINIS}


def _of_the_kernel() -> dict[str, str]:
    found = dict.fromkeys(sorted(as_modules()), "kernel module")
    found |= dict.fromkeys(sorted(in_kernel()), "kernel")
    found.pop(REMINIS, None)
    return found


def listed() -> dict[str, str]:
    """What is available, and why Reminis is not if it is not: for people."""
    trouble = reminis.way().trouble
    return available() | ({REMINIS: f"not now: {trouble}"} if trouble else {})


def check(experiment: Experiment, *, now: bool = True) -> None:
    """Raises Refused if a congestion control is not to be had, or does not take the parameters.

    Without `now`, what another run has is to be had: that run will end.
    """
    if experiment.traffic.kind == "udp":
        if experiment.cc_params:
            raise Refused("--cc-param: UDP has no congestion control; leave it out")
        return
    there = available() if now else dict.fromkeys(sorted(available_in_time()))
    for name in experiment.servers_ccs:
        if name in there:
            continue
        trouble = reminis.way().trouble if name == REMINIS else None
        if trouble:
            others = ", ".join(there)
            raise Refused(f"--cc: reminis cannot run here: {trouble}. Others that can: {others}")
        raise Refused(f"--cc: {no_such('congestion control', name, there, 'on this machine')}")
    if experiment.cc_params:
        if REMINIS not in experiment.servers_ccs:
            raise Refused(f"--cc-param: {experiment.cc} takes none; reminis does")
        reminis_params.check(experiment.cc_params)


@contextmanager
def loaded(site: Site) -> Iterator[dict[str, Any]]:
    """The implementation of each congestion control, in the kernel while the context lasts."""
    names = site.experiment.servers_ccs
    found = {name: _kernels_own(name) for name in names if name != REMINIS}
    if REMINIS not in names:
        yield found
        return
    with reminis_session.in_kernel(site) as implementation:
        yield {**found, REMINIS: implementation}


def _kernels_own(name: str) -> dict[str, Any]:
    module = Path("/sys/module", f"tcp_{name}")
    parameters = {}
    for file in sorted((module / "parameters").glob("*")):
        if os.access(file, os.R_OK):
            parameters[file.name] = file.read_text().strip()
    # Only what was loaded has a state; what is built in has parameters at most.
    kind = "module" if (module / "initstate").exists() or name not in in_kernel() else "kernel"
    return {"kind": kind, "parameters": parameters}
