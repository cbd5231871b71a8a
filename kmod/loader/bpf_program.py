# SPDX-License-Identifier: GPL-2.0-only
"""`reminis-bpf run`, `status` and `clean`: the BPF program, and who has registered its name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ccplane.loader import machine
from ccplane.loader.libbpf import LoadError
from ccplane.loader.lifetime import Lifetime
from ccplane.loader.program import Program
from ccplane.loader.registration import Registered, registered, remove_left_behind
from ccplane.ring import Ring
from events import print_event
from module_trace import remove_stale_instances
from run_options import Options
from trace_file import TraceFile, unpacked

NAME = "reminis"
MAP = "reminis_testbed"  # the struct_ops map, by which ours is known
_OBJECT = Path(__file__).resolve().parents[1] / "build" / "reminis.bpf.o"
_RING_BYTES = 1 << 20
_DRAIN_PERIOD_S = 0.05  # the ring buffer holds twice as long at 100 records per ms
_NOT_ROOT = "not root: loading a congestion control needs root. Run it with sudo"


def run(lifetime: Lifetime, options: Options) -> str | None:
    """Register Reminis and write its trace until the end; return what went wrong."""
    if why := _obstacle() or _taken(registered(NAME, MAP)):
        return why
    try:
        trace = TraceFile(options.trace)
    except OSError as error:
        return f"{options.trace}: {error.strerror}"
    program = None
    try:
        program = _loaded(options)
        ring = Ring(program.map_descriptor("trace"), _RING_BYTES)
        program.register(NAME)
    except LoadError as error:
        trace.discard()
        why = _taken(registered(NAME, MAP)) if program else _refused(error, options.verbose)
        return why or str(error)
    _print_ready(program, options)
    while lifetime.goes_on(_DRAIN_PERIOD_S):
        _drain(ring, trace)
    program.unregister()
    _drain(ring, trace)
    print_event(
        event="done",
        trace_records=trace.record_count,
        trace_lost=int.from_bytes(program.value("trace_lost_count"), sys.byteorder),
        flows=int.from_bytes(program.value("flow_count"), sys.byteorder),
    )
    return trace.failure


def status() -> None:
    """Print who has registered the name, and whether the program can run here."""
    holder, why = registered(NAME, MAP), _obstacle()
    print_event(
        registered=holder.holder,
        map_id=holder.map_id,
        pid=holder.pid,
        left_behind=holder.left_behind,
        root=os.geteuid() == 0,
        links=machine.has_links(),
        usable=why is None,
        why_not=why,
    )


def clean() -> str | None:
    """Remove what killed loaders left; return what went wrong."""
    if os.geteuid():
        return "not root: removing a congestion control needs root. Run it with sudo"
    removed = remove_left_behind(MAP)
    print_event(event="cleaned", removed=removed, trace_instances=remove_stale_instances())
    return None


def _loaded(options: Options) -> Program:
    """Return the program in the kernel. Raises LoadError."""
    program = Program(_OBJECT)
    program.set("params", options.params)
    program.set("pacing", bytes([options.pacing]))
    program.set("tracing", bytes([options.trace is not None]))
    program.load()
    for port, dtt_us in options.ports.items():
        program.put("port_dtt", port, dtt_us)
    return program


def _print_ready(program: Program, options: Options) -> None:
    why_no_option = program.handle_socket_options()
    if why_no_option:
        why = f"applications cannot set REMINIS_DTT here: {why_no_option}"
        print(f"reminis-bpf: {why}", file=sys.stderr)
    print_event(
        event="ready",
        cc=NAME,
        implementation="bpf",
        dtt_us=options.dtt_us or None,
        dtt_factor=round(options.dtt_factor_q16 / 65536, 4),
        seed=options.seed,
        pacing=options.pacing,
        switches=options.switches,
        port_dtt_us=options.ports,
        socket_option=why_no_option is None,
        outlives_loader=program.outlives_loader,
    )


def _drain(ring: Ring, trace: TraceFile) -> None:
    trace.sync_clock()
    for content in ring.records():
        trace.write(unpacked(content))
    trace.flush()


def _obstacle() -> str | None:
    return _NOT_ROOT if os.geteuid() else machine.obstacle()


def _taken(holder: Registered) -> str | None:
    """Return who has the name, and how to change that; None: nobody."""
    if holder.holder == "none":
        return None
    if holder.holder == "module":
        return (
            "the name reminis is taken by the module tcp_reminis. Use the module, or run "
            "`rmmod tcp_reminis`"
        )
    if holder.holder == "other":
        return "the name reminis is taken by another program's congestion control"
    if holder.pid:
        return f"reminis is already registered by process {holder.pid} (reminis-bpf). Stop it first"
    return "a killed loader left reminis registered. Remove it: reminis-bpf clean"


def _refused(error: LoadError, verbose: bool) -> str:
    """Return what was wrong; the verifier's reason is before its statistics ("processed N …")."""
    reason, processed, _ = error.log.partition("\nprocessed ")
    if verbose or not processed:
        return f"{error.log}{error}"
    said = reason.rpartition("\n")[2]
    return f"the kernel's verifier says: {said} (--verbose shows the log)\nreminis-bpf: {error}"
