# SPDX-License-Identifier: Apache-2.0
"""`ccu doctor`: what this machine can and cannot do, and how to fix it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ccplane.loader import machine
from ccu import congestion, traffic
from ccu.cli.options import experiment_options, takes_flags
from ccu.host import disk, programs
from ccu.host.findings import Finding, program
from ccu.runs import trial, turn
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Experiment
from ccu.testbeds import Driver, driver_of, drivers
from ccu.testbeds.choice import Choice, choose, choose_testbed
from ddu.console.problems import CommandError, RefusedError, Where
from ddu.console.suggestions import unknown

app = typer.Typer(add_completion=False)
# As the verdict on a run has it.
REAL_TIME = 0.95


@app.command()
@takes_flags(experiment_options("prb"), drivers())
def doctor(
    flags: dict[str, Any],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    output: Annotated[Path, typer.Option(help="Directory for run directories.")] = Path("runs"),
    testbed: Annotated[
        str | None,
        typer.Option(help="Testbed whose requirements are checked. (default: that of `ccu run`)"),
    ] = None,
) -> None:
    """Show what this machine can and cannot do, and how to fix it.

    ✓ present, ✗ missing and needed, ○ missing and optional. The exit code is 0 if runs can start,
    else 1. With --prb, a trial of 10 s measures how fast the radio's time passes, where the
    machine decides that.
    """
    if testbed is not None and testbed not in drivers():
        raise RefusedError(unknown("testbed", testbed, drivers(), where=Where(key="--testbed")))
    default = choose_testbed(lambda more: [resolve({"cc": "cubic", **more})])
    checked = testbed or default.value
    asked = {"cc": "cubic", "testbed": checked, **flags}
    experiment = resolve(asked)
    driver = driver_of(experiment)
    choices = [default, *choose(asked, lambda more: [resolve({**asked, **more})])]
    findings = [*map(_default, choices), *examine(output, driver), *driver.examine(experiment)]
    if "prb" in flags and driver.radio_time_varies(experiment):
        ready = all(finding.ok or not finding.needed for finding in findings)
        findings.append(_radio_time(experiment, output, ready))
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        Console().print(table(findings))
        print(conclusion(findings, checked))
        print(f"next: {_next_step(findings, None if checked == default.value else checked)}")
    if any(finding.needed and not finding.ok for finding in findings):
        raise typer.Exit(1)


def _radio_time(experiment: Experiment, output: Path, ready: bool) -> Finding:
    """Measure the radio's time in a trial, if runs can start."""
    name = f"radio time at {experiment.prb} PRB"
    if not ready:
        return Finding(name, False, "not measured", "install what is missing", needed=False)
    try:
        with turn.taken(experiment, output, _say):
            factor = trial.radio_time_factor(experiment)
    except CommandError as error:
        return Finding(name, False, f"the trial failed: {error}", "see the message", needed=True)
    if factor is None:
        return Finding(name, False, "the radio did not report it", needed=False)
    ok = factor >= REAL_TIME
    detail = f"{factor:.2f} of real time under {experiment.cc}"
    fix = "" if ok else "runs would be degraded: use fewer PRB, faster cores, or end other programs"
    return Finding(name, ok, detail, fix, needed=False)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def table(findings: list[Finding]) -> Table:
    """Return the findings as a table: ✓ present, ✗ missing and needed, ○ missing and optional."""
    made = Table(box=None, show_header=False)
    for overflow in ("ellipsis", "ellipsis", "fold"):
        made.add_column(overflow=overflow)
    for finding in findings:
        made.add_row(finding.mark, finding.name, escape(finding.sentence))
    return made


def conclusion(findings: list[Finding], testbed: str) -> str:
    """Return whether a run can begin, in one line."""
    missing = dict.fromkeys(
        finding.name for finding in findings if finding.needed and not finding.ok
    )
    if missing:
        return f"not ready for --testbed {testbed}: {', '.join(missing)} (✗)"
    return f"ready for --testbed {testbed}"


def _next_step(findings: list[Finding], testbed: str | None) -> str:
    """Return what to do now; `testbed`: one that `ccu run` would not choose by itself."""
    if any(finding.needed and not finding.ok for finding in findings):
        return "do what stands beside each ✗, then ccu doctor again"
    return "ccu run --cc cubic" + (f" --testbed {testbed}" if testbed else "")


def _default(choice: Choice) -> Finding:
    """Report what `ccu run` takes where nothing is said; if not the preferred, why not."""
    name = f"default {choice.key}"
    if not choice.decided:
        return Finding(name, False, "not known", "do what stands beside each ✗", needed=False)
    if not choice.passed_over:
        return Finding(name, True, choice.shown)
    return Finding(name, False, choice.shown, f"not {choice.passed_over}", needed=False)


def examine(output: Path, driver: Driver) -> list[Finding]:
    """Check everything that a run needs of the machine; changes nothing."""
    of_kernel = _of_kernel()
    if driver.own_kernel:
        of_kernel = [finding._replace(needed=False) for finding in of_kernel]
    return [program("nr-link"), _disk(output), _clock(), *of_kernel]


def _of_kernel() -> list[Finding]:
    """Check what runs with this machine's kernel need."""
    return [
        _root(),
        _tun(),
        _namespaces(),
        _bpf(),
        _modules(),
        _congestion_controls(),
        *_unavailable(),
        *(program(name) for name in (*traffic.every_program(), "tcpdump", "ip", "socket-sampler")),
        _speed(),
        _buffers(),
    ]


def _root() -> Finding:
    ok = os.geteuid() == 0
    fix = "" if ok else f"type: sudo {programs.find('ccu') or 'ccu'} …"
    return Finding("root", ok, f"user id {os.geteuid()}", fix)


def _tun() -> Finding:
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        fix = "sudo modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN"
        return Finding("TUN", False, f"/dev/net/tun: {error.strerror}", fix)
    return Finding("TUN", True, "/dev/net/tun")


def _namespaces() -> Finding:
    said = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
    ok = said.returncode == 0
    fix = "" if ok else "run as root; in a container: --cap-add SYS_ADMIN"
    return Finding("network namespaces", ok, said.stderr.strip() or "can be created", fix)


def _bpf() -> Finding:
    why = machine.obstacle()
    detail, _, fix = (why or f"BTF present ({machine.BTF})").partition("; ")
    return Finding("BPF struct_ops", why is None, detail, fix, needed=False)


def _modules() -> Finding:
    ok = Path("/proc/modules").exists() and Path("/lib/modules", platform.release()).is_dir()
    detail = "loadable" if ok else "this kernel loads none, or its modules are not installed"
    fix = "" if ok else "use congestion controls that the kernel has, or BPF"
    return Finding("kernel modules", ok, detail, fix, needed=False)


def _unavailable() -> list[Finding]:
    """Report each congestion control that cannot run now."""
    return [
        Finding(f"congestion control {name}", False, why, "run another: `ccu list cc`", False)
        for name, why in congestion.unavailable().items()
    ]


def _congestion_controls() -> Finding:
    there = congestion.available()
    fix = "" if there else "boot a kernel with TCP, such as a distribution's"
    return Finding("congestion controls", bool(there), ", ".join(there) or "none", fix)


def _speed() -> Finding:
    """Run the self-test of nr-link, which takes about 3 s."""
    program = programs.find("nr-link")
    if program is None or os.geteuid() != 0:
        fix = "run as root" if program else programs.install_hint("nr-link")
        return Finding("speed", False, "not measured", fix, needed=False)
    said = subprocess.run([program, "selftest", "--seconds", "1"], capture_output=True, text=True)
    if said.returncode != 0:
        fix = said.stderr.strip()
        return Finding("speed", False, "nr-link cannot measure it", fix)
    result = json.loads(said.stdout)
    ok = result["verdict"] == "valid"
    detail = (
        f"up to {result['link_gbps_per_core']:.0f} Gbit/s; lateness of slots at the 99th "
        f"percentile: {result['lateness_p99_us']:.0f} us"
    )
    fix = "" if ok else "runs would be degraded now: end other programs"
    return Finding("speed", ok, detail, fix, needed=False)


def _buffers() -> Finding:
    maxima = [
        int(Path(f"/proc/sys/net/ipv4/{key}").read_text().split()[2])
        for key in ("tcp_wmem", "tcp_rmem")
    ]
    sizes = " and ".join(f"{value / 1e6:.0f} MB" for value in maxima)
    return Finding("TCP buffers", True, f"at most {sizes} (send, receive) here; 67 MB in a run")


def _disk(output: Path) -> Finding:
    folder = next(path for path in (output.absolute(), *output.absolute().parents) if path.exists())
    free = disk.free_bytes(folder)
    ok = free > 2 * 10**9
    fix = "" if ok else "30 s at 106 PRB may write 1 GB: free some, or --output elsewhere"
    return Finding("disk", ok, f"{free / 1e9:.1f} GB free at {folder}", fix)


def _clock() -> Finding:
    resolution_ns = time.clock_getres(time.CLOCK_REALTIME) * 1e9
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = source.read_text().strip() if source.exists() else "unknown"
    synchronised = "no timedatectl to ask"
    if shutil.which("timedatectl"):
        said = subprocess.run(
            ["timedatectl", "show", "-P", "NTPSynchronized"], capture_output=True, text=True
        )
        synchronised = f"synchronised: {said.stdout.strip() or 'unknown'}"
    ok = resolution_ns <= 1000
    fix = "" if ok else "boot with high-resolution timers"
    return Finding("clock", ok, f"{name}, {resolution_ns:.0f} ns, {synchronised}", fix)
