# SPDX-License-Identifier: GPL-2.0-only
"""`reminis-bpf trace-module`: the module's tracepoint, as the same CSV as that of `run`.

It is read through a tracing instance of its own, so that other tracing is not disturbed, with the
monotonic clock, so that times become UTC like those of the ring buffer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ccplane.loader.lifetime import Lifetime
from events import print_event
from trace_file import ACTIONS, Record, TraceFile

_INSTANCES = Path("/sys/kernel/tracing/instances")
_PREFIX = "reminis-testbed-"
_MODULE = Path("/sys/module/tcp_reminis")
_EVENT = "events/reminis/reminis_si/enable"
_PERIOD_S = 0.05
_LINE = re.compile(rb"(\d+)\.(\d{6}): reminis_si: (.*)")  # module/tcp_reminis_trace.h
_LOST = re.compile(rb"CPU:\d+ \[LOST (\d+) EVENTS\]")


def trace_module(lifetime: Lifetime, file: Path) -> str | None:
    """Write the trace until the end; return what went wrong."""
    if os.geteuid():
        return "not root: reading the kernel's trace needs root. Run it with sudo"
    if not _MODULE.exists():
        return "the module tcp_reminis is not loaded. Load it: modprobe tcp_reminis"
    try:
        trace = TraceFile(file)
    except OSError as error:
        return f"{file}: {error.strerror}"
    try:
        with _instance() as instance, _pipe(instance) as pipe:
            _print_ready()
            lost = 0
            while lifetime.goes_on(_PERIOD_S):
                lost += _take(pipe, trace)
            (instance / _EVENT).write_text("0")
            lost += _take(pipe, trace)
    except OSError as error:
        trace.discard()
        return f"cannot trace in {_INSTANCES}: {error.strerror}. Check that tracefs is mounted"
    print_event(event="done", trace_records=trace.record_count, trace_lost=lost)
    return trace.failure


def remove_stale_instances() -> int:
    """Remove the tracing instances of killed commands; return their number."""
    removed = 0
    for instance in _INSTANCES.glob(f"{_PREFIX}*"):
        if not Path("/proc", instance.name.removeprefix(_PREFIX)).exists():
            with suppress(OSError):
                instance.rmdir()
                removed += 1
    return removed


@contextmanager
def _instance() -> Iterator[Path]:
    """Make the instance, which traces; remove it at the end."""
    instance = _INSTANCES / f"{_PREFIX}{os.getpid()}"
    instance.mkdir(mode=0o700)
    try:
        (instance / "trace_clock").write_text("mono")
        (instance / _EVENT).write_text("1")
        yield instance
    finally:
        instance.rmdir()


@contextmanager
def _pipe(instance: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        yield pipe


def _print_ready() -> None:
    parameters = {}
    for file in (_MODULE / "parameters").iterdir():
        with suppress(OSError):
            parameters[file.name] = file.read_text().strip()
    print_event(event="ready", cc="reminis", implementation="module", parameters=parameters)


def _take(pipe: BinaryIO, trace: TraceFile) -> int:
    """Write what the pipe holds; return the number of events that the kernel reports as lost."""
    trace.sync_clock()
    lost = 0
    while content := _read(pipe):  # whole lines: trace_pipe gives no others
        for line in content.splitlines():
            if event := _LINE.search(line):
                trace.write(_record(*event.groups()))
            elif said := _LOST.match(line):
                lost += int(said[1])
    trace.flush()
    return lost


def _read(pipe: BinaryIO) -> bytes:
    """Return what there is; nothing: the end, which is temporary."""
    with suppress(BlockingIOError):
        return pipe.read(1 << 16) or b""
    return b""


def _record(seconds: bytes, microseconds: bytes, fields: bytes) -> Record:
    values = dict(one.split("=", 1) for one in fields.decode().split())
    action = ACTIONS.index(values.pop("action"))
    ports = {"local_port": int(values.pop("sport")), "remote_port": int(values.pop("dport"))}
    return Record(
        monotonic_ns=int(seconds) * 1_000_000_000 + int(microseconds) * 1000,
        action=action,
        **ports,
        **{name: int(value) for name, value in values.items()},
    )
