# SPDX-License-Identifier: Apache-2.0
"""Bringing Reminis into the kernel for one run, with its trace, and out of it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion.catalogue import trace_file
from ccu.congestion.reminis import bpf_program, implementation, parameters
from ccu.congestion.reminis.resources import BpfProgram, LoadedModule, ModuleParameters
from ccu.host.resources import readable_records
from ccu.host.setup import Setup
from ccu.spec.errors import RunFailed

_STAGE = "congestion control"
_TRACING = Path("/sys/kernel/tracing/instances")


@contextmanager
def in_kernel(setup: Setup) -> Iterator[dict[str, Any]]:
    """Have the kernel offer Reminis; returns what run.json says of the implementation."""
    choice = implementation.choose()
    if choice.obstacle:
        raise RunFailed(_STAGE, f"reminis cannot run: {choice.obstacle}")
    why_no_module = None
    if choice.kind == "module":
        why_no_module = _load(setup)
        if why_no_module is None:
            with _module(setup) as implemented:
                yield implemented
            return
        if obstacle := implementation.bpf_obstacle():
            why = f"the module {implementation.MODULE}: {why_no_module}; BPF: {obstacle}"
            raise RunFailed(_STAGE, why)
    with _bpf(setup) as implemented:
        yield {**implemented, **({"why_no_module": why_no_module} if why_no_module else {})}


def _load(setup: Setup) -> str | None:
    """Load the module unless it is; return why that failed, or None."""
    if implementation.is_loaded():
        return None
    setup.resources.register(LoadedModule())
    obstacle = implementation.load()
    if obstacle:
        setup.resources.release(LoadedModule())
    return obstacle


@contextmanager
def _module(setup: Setup) -> Iterator[dict[str, Any]]:
    if any(one.of(ModuleParameters) and not one.abandoned for one in readable_records()):
        raise RunFailed(
            _STAGE,
            f"another run uses the module {implementation.MODULE}, whose parameters are those of "
            "the whole machine; wait until it ends",
        )
    wanted = parameters.for_module(parameters.of_experiment(setup.experiment))
    before = implementation.parameters_in_force()
    changed = ModuleParameters({name: before[name] for name in wanted if name in before})
    setup.resources.register(changed)
    tracer = None
    try:
        _set(wanted)
        why_no_trace = _why_no_trace()
        if why_no_trace is None:
            command = bpf_program.command("trace-module", _trace(setup))
            tracer = setup.supervisor.start("reminis-bpf", command, stage=_STAGE)
            setup.supervisor.wait_ready_event(tracer)
        yield {
            "kind": "module",
            "parameters": implementation.parameters_in_force(),
            "loaded_by_run": bool(setup.resources.of(LoadedModule)),
            "why_no_trace": why_no_trace,
        }
    finally:
        if tracer:
            setup.supervisor.stop(tracer)
        setup.resources.remove(changed, LoadedModule())


def change(changed: dict[str, str]) -> None:
    """Write parameters of the module while flows run. Raises RunFailed."""
    if not implementation.is_loaded():
        raise RunFailed(
            _STAGE,
            "the parameters of Reminis as a BPF program are fixed when it is loaded; install the "
            f"module (`{implementation.INSTALL_MODULE}`), or use --testbed virtual",
        )
    _set(changed)


def _set(wanted: dict[str, str]) -> None:
    try:
        implementation.set_parameters(wanted)
    except OSError as error:
        raise RunFailed(
            _STAGE,
            f"{error.filename}: {error.strerror}; the loaded {implementation.MODULE} is of another "
            f"version? `{implementation.INSTALL_MODULE}` puts this one in its place",
        ) from None


def _why_no_trace() -> str | None:
    if not _TRACING.is_dir():
        return f"no {_TRACING}; mount -t tracefs tracefs /sys/kernel/tracing"
    return None


@contextmanager
def _bpf(setup: Setup) -> Iterator[dict[str, Any]]:
    options = parameters.for_loader(parameters.of_experiment(setup.experiment))
    setup.resources.register(BpfProgram())
    command = bpf_program.command("run", *options, "--trace", _trace(setup))
    process = setup.supervisor.start("reminis-bpf", command, stage=_STAGE)
    try:
        ready = setup.supervisor.wait_ready_event(process)
        ready.pop("event")
        yield {"kind": "bpf", "parameters": ready}
    finally:
        setup.supervisor.stop(process)


def _trace(setup: Setup) -> str:
    return str(trace_file(setup.raw, implementation.NAME))
