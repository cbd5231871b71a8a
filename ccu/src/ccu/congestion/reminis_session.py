# SPDX-License-Identifier: Apache-2.0
"""Reminis in the kernel for one run, and its trace; afterwards the kernel is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion import reminis, reminis_params
from ccu.host import programs
from ccu.spec.errors import RunFailed
from ccu.testbeds import Site

_STAGE = "congestion control"
_TRACING = Path("/sys/kernel/tracing/instances")


@contextmanager
def in_kernel(site: Site) -> Iterator[dict[str, Any]]:
    """What run.json tells of the implementation, which is there while the context lasts."""
    way = reminis.way()
    if way.trouble:
        raise RunFailed(_STAGE, f"reminis cannot run: {way.trouble}")
    why_no_module = None
    if way.kind == "module":
        why_no_module = _load(site)
        if why_no_module is None:
            with _module(site) as found:
                yield found
            return
        if trouble := reminis.bpf_trouble():
            raise RunFailed(_STAGE, f"the module {reminis.MODULE}: {why_no_module}; BPF: {trouble}")
    with _bpf(site) as found:
        yield {**found, "why_no_module": why_no_module} if why_no_module else found


def _load(site: Site) -> str | None:
    """Why the module cannot be had; None if it is loaded now."""
    if reminis.is_loaded():
        return None
    site.belongings.reminis_module = True
    site.belongings.save()
    trouble = reminis.load()
    if trouble:
        site.belongings.reminis_module = False
        site.belongings.save()
    return trouble


@contextmanager
def _module(site: Site) -> Iterator[dict[str, Any]]:
    belongings = site.belongings
    wanted = reminis_params.for_module(_params(site))
    before = reminis.parameters_in_force()
    belongings.reminis_parameters = {name: before[name] for name in wanted if name in before}
    belongings.save()
    tracer = None
    try:
        _set(wanted)
        why_no_trace = _why_no_trace()
        if why_no_trace is None:
            command = [programs.require("reminis-bpf"), "trace-module", _trace_file(site)]
            tracer = site.supervisor.start("reminis-bpf", command, stage=_STAGE)
            site.supervisor.wait_ready_event(tracer)
        yield {
            "kind": "module",
            "parameters": reminis.parameters_in_force(),
            "loaded_by_run": belongings.reminis_module,
            "why_no_trace": why_no_trace,
        }
    finally:
        if tracer:
            site.supervisor.stop(tracer)
        reminis.restore(belongings.reminis_parameters, unload=belongings.reminis_module)


def _set(wanted: dict[str, str]) -> None:
    try:
        reminis.set_parameters(wanted)
    except OSError as error:
        raise RunFailed(
            _STAGE,
            f"{error.filename}: {error.strerror}; the loaded {reminis.MODULE} is of another "
            "version? `make -C kmod dkms-install` puts this one in its place",
        ) from None


def _why_no_trace() -> str | None:
    if programs.find("reminis-bpf") is None:
        return f"reminis-bpf, which writes it, is not built; {programs.mend('reminis-bpf')}"
    if not _TRACING.is_dir():
        return f"no {_TRACING}; mount -t tracefs tracefs /sys/kernel/tracing"
    return None


@contextmanager
def _bpf(site: Site) -> Iterator[dict[str, Any]]:
    options = reminis_params.for_loader(_params(site))
    loader = programs.require("reminis-bpf")
    site.belongings.reminis_bpf = True
    site.belongings.save()
    command = [loader, "run", *options, "--trace", _trace_file(site)]
    process = site.supervisor.start("reminis-bpf", command, stage=_STAGE)
    try:
        ready = site.supervisor.wait_ready_event(process)
        ready.pop("event")
        yield {"kind": "bpf", "parameters": ready}
    finally:
        site.supervisor.stop(process)


def _trace_file(site: Site) -> str:
    return str(site.raw / f"cc-{reminis.NAME}.csv")


def _params(site: Site) -> dict[str, str]:
    """With a seed: of two runs of the same experiment, the draws are the same."""
    return {"seed": str(site.experiment.seed % 2**32 or 1), **site.experiment.cc_params}
