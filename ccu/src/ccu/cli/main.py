# SPDX-License-Identifier: Apache-2.0
"""The command `ccu`."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.table import Table

from ccu import __version__, congestion, scenarios
from ccu.campaigns import definition
from ccu.campaigns.remote import RESOURCE
from ccu.cli import doctor, progress
from ccu.cli.campaign import app as campaign_app
from ccu.cli.scenario import app as scenario_app
from ccu.cli.testbed import app as testbed_app
from ccu.host import programs, resources, testbed_logs
from ccu.host.root import need_root
from ccu.runs import manifest
from ccu.runs import run as runs
from ccu.spec.errors import Refused
from ccu.spec.experiment import EMULATED, OAI_TESTBEDS, OF_THE_RADIO, PHONE, Experiment, Phone
from ccu.spec.placing import told_at
from ccu.spec.resolve import collect, resolve, resolve_written
from ccu.testbeds import kinds
from testbed_console import ending
from testbed_console.suggestions import no_such

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(campaign_app, name="campaign")
app.add_typer(scenario_app, name="scenario")
app.add_typer(testbed_app, name="testbed")
out = Console()
_SCHEDULER = re.compile(r"([a-z]+://)?[^\s/]+:\d{1,5}")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ccu {__version__}")
        raise typer.Exit


def _of_phone(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="With --testbed phone (docs/phone.md)")


@app.callback()
def ccu(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Runs real Linux TCP over a 5G link and records what the radio and TCP did."""


@app.command()
def run(
    cc: Annotated[str | None, typer.Option(help="Congestion control: see `ccu list cc`.")] = None,
    cc_param: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, such as dtt=60ms; repeatable.")
    ] = None,
    dl: Annotated[bool, typer.Option("--dl", help="Downlink (default).")] = False,
    ul: Annotated[bool, typer.Option("--ul", help="Uplink.")] = False,
    bidir: Annotated[bool, typer.Option("--bidir", help="A flow each way.")] = False,
    prb: Annotated[
        int | None, typer.Option(help="Carrier width in PRBs (106: 40 MHz at 30 kHz).")
    ] = None,
    numerology: Annotated[
        int | None, typer.Option(help="Subcarriers 15·2^µ kHz apart: 0 to 6 (1: 30 kHz).")
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Name of `ccu list scenarios`, or a file (rome-moderate).")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Of the traffic: 30s (default), 2min, 1h.")
    ] = None,
    rtt: Annotated[str | None, typer.Option(help="Round trip without the radio (20ms).")] = None,
    loss: Annotated[
        str | None, typer.Option(help="Share of packets lost, each way: 0.01 or 1% (0).")
    ] = None,
    buffer: Annotated[
        str | None, typer.Option(help="RLC queue, each way: 3200pkt (default), 2.5MB.")
    ] = None,
    aqm: Annotated[
        str | None, typer.Option(help="Of that queue: droptail (default), codel, pie, dualpi2.")
    ] = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="Mark, where --aqm would drop.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Of all that is random: a whole number (1).")
    ] = None,
    mss: Annotated[
        int | None, typer.Option(help="TCP's segment in bytes; the MTU is 40 more (1460).")
    ] = None,
    flows: Annotated[
        str | None, typer.Option(help="CC@SECONDS, with commas: cubic@0,reno@10 (--cc at 0).")
    ] = None,
    traffic: Annotated[
        str | None, typer.Option(help="tcp (default), a volume a flow: tcp:1GB, a rate: udp:100M.")
    ] = None,
    testbed: Annotated[str | None, typer.Option(help="See `ccu list testbeds` (emulated).")] = None,
    runtime: Annotated[
        str | None, typer.Option(help="Of rfsim, usrp: docker (default) or lxc.")
    ] = None,
    oai_version: Annotated[
        str | None, typer.Option(help="Image tag: 2023.w16 … 2026.w11 (default).")
    ] = None,
    ues: Annotated[int | None, typer.Option(help="UEs (1); --cc is then a flow each.")] = None,
    usrp: Annotated[str | None, typer.Option(help="Of usrp: b210 or x310:addr=A+addr=B.")] = None,
    capture_n3: Annotated[
        bool, typer.Option("--capture-n3", help="Of rfsim, usrp: GTP-U, too.")
    ] = False,
    serial: Annotated[
        str | None, _of_phone("The one of `adb devices` that is meant (the only one).")
    ] = None,
    no_adb: Annotated[bool, _of_phone("Its owner starts the transfer.", "--no-adb")] = False,
    phone_ssh: Annotated[
        str | None, _of_phone("HOST[:PORT] of Termux's sshd on the phone, in place of adb.")
    ] = None,
    phone_load: Annotated[
        str | None, _of_phone("auto (default: iperf3 if the phone has it), iperf3 or nc.")
    ] = None,
    server_address: Annotated[
        str | None, _of_phone("By which the phone reaches us (ours to the internet).")
    ] = None,
    server_port: Annotated[int | None, _of_phone("Of the first flow, open for TCP (5201).")] = None,
    phone_address: Annotated[str | None, _of_phone("Needs to show no token.")] = None,
    max_bytes: Annotated[str | None, _of_phone("Of the run, such as 500MB (1GB).")] = None,
    server: Annotated[str | None, _of_phone("Another machine with ccu, by ssh.")] = None,
    place: Annotated[str | None, _of_phone("Where you stand.")] = None,
    note: Annotated[str | None, _of_phone("What you want to remember.")] = None,
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    socket_interval: Annotated[
        str | None, typer.Option(help="Between samples of the sockets, from 1ms (20ms).")
    ] = None,
    mac_interval: Annotated[
        str | None, typer.Option(help="Length of a sample of the MAC, from 1ms (10ms).")
    ] = None,
    no_capture: Annotated[
        bool, typer.Option("--no-capture", help="No packets, no sockets: MAC and iperf3 only.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check, print the experiment, do nothing.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="The same as YAML; flags win.")
    ] = None,
) -> None:
    """Run one experiment and record it in a new directory."""
    flags: dict[str, Any] = {
        "cc": cc,
        "cc_params": _pairs(cc_param),
        "direction": _direction(dl, ul, bidir),
        "prb": prb,
        "numerology": numerology,
        "scenario": scenario,
        "duration": duration,
        "rtt": rtt,
        "loss": loss,
        "aqm": aqm,
        "ecn": ecn or None,
        "buffer": buffer,
        "seed": seed,
        "mss": mss,
        "flows": flows,
        "traffic": traffic,
        "testbed": testbed,
        "runtime": runtime,
        "oai_version": oai_version,
        "ues": ues,
        "usrp": usrp,
        "capture_n3": True if capture_n3 else None,
        "serial": serial,
        "adb": False if no_adb else None,
        "phone_ssh": phone_ssh,
        "phone_load": phone_load,
        "server_address": server_address,
        "server_port": server_port,
        "phone_address": phone_address,
        "max_bytes": max_bytes,
        "place": place,
        "note": note,
        "socket_interval": socket_interval,
        "mac_interval": mac_interval,
        "capture": False if no_capture else None,
    }
    written, places = collect(flags, file)
    experiment = resolve_written(written, places)
    with told_at(places):
        if server is None:
            _perform(experiment, output, dry_run)
        else:
            _perform_far(experiment, server, output, dry_run)


def _perform_far(experiment: Experiment, server: str, output: Path, dry_run: bool) -> None:
    from ccu.testbeds.phone import far_server

    if experiment.phone is None:
        raise Refused("--server: is for a phone; add --testbed phone, or leave it out")
    if made := far_server.run(experiment, server, output, dry_run):
        print(f"brought here: {made}\nnext: ddu analyze {shlex.quote(str(made))}")


def _perform(experiment: Experiment, output: Path, dry_run: bool) -> None:
    if dry_run:
        print(resolved(experiment, runs.check(experiment, output)), end="")
        if experiment.phone:
            print(_data_volume(experiment, experiment.phone))
        return
    need_root(shlex.join([str(Path(sys.argv[0]).resolve()), *sys.argv[1:]]))
    if experiment.phone:
        print(_data_volume(experiment, experiment.phone))
    with progress.shown(out) as tell:
        directory = runs.run(experiment, output, tell)
    _show_result(directory)


def resolved(experiment: Experiment, scenario: Path) -> str:
    """The experiment as YAML, with what it has no use for left out."""
    written = experiment.model_dump(mode="json", exclude_none=True)
    told = manifest.without_the_links(experiment, written)
    note = ""
    if scenarios.gives_capacity(scenario):
        told = {key: None if key in OF_THE_RADIO else value for key, value in told.items()}
        left_out = ", ".join(sorted(OF_THE_RADIO))
        note = f"# {experiment.scenario} gives capacity itself, so there is no {left_out}\n"
    known = {key: value for key, value in told.items() if value is not None}
    return note + yaml.safe_dump(known, sort_keys=False)


def _data_volume(experiment: Experiment, phone: Phone) -> str:
    """What the run may cost, said before it does."""
    from ccu.testbeds.phone import data_plan

    at_rate = experiment.duration_s * len(experiment.ways) * 100e6 / 8
    known = data_plan.told(phone)
    return (
        f"data over the operator's network: at most {phone.max_bytes / 1e6:g} MB (--max-bytes); "
        f"{experiment.duration_s:g} s at 100 Mbit/s are {at_rate / 1e6:g} MB"
        + (f"\n{known}" if known else "")
    )


@app.command()
def rerun(
    run: Annotated[Path, typer.Argument(help="The directory of a run.")],
    output: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check, print the experiment, do nothing.")
    ] = False,
) -> None:
    """Run again what a run's manifest says, with the scenario that it played."""
    experiment = manifest.experiment_of(run)
    with told_at({}, elsewhere=str(run / "run.json")):
        _perform(experiment, output, dry_run)


@app.command()
def worker(
    scheduler: Annotated[str, typer.Option(help="Dask's, such as tcp://10.0.0.1:8786.")],
    testbeds: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 1,
) -> None:
    """Lend this machine's testbeds to campaigns (docs/scaling.md)."""
    if not _SCHEDULER.fullmatch(scheduler):
        raise Refused(
            f"--scheduler: {scheduler!r} is no address; write for example tcp://10.0.0.1:8786"
        )
    need_root(shlex.join([str(Path(sys.argv[0]).resolve()), *sys.argv[1:]]))
    dask = programs.require("dask")
    command = [dask, "worker", scheduler, "--nworkers", "1", "--nthreads", str(testbeds)]
    command += ["--resources", f"{RESOURCE}={testbeds}", "--no-dashboard"]
    sys.stdout.flush()
    os.execv(dask, command)


@app.command("doctor")
def doctor_command(
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for programs.")] = False,
    output: Annotated[Path, typer.Option(help="Where runs would go.")] = Path("runs"),
    testbed: Annotated[str | None, typer.Option(help="And what this one needs (emulated).")] = None,
    runtime: Annotated[
        str | None, typer.Option(help="Of rfsim, usrp: docker (default) or lxc.")
    ] = None,
    oai_version: Annotated[
        str | None, typer.Option(help="Image tag: 2023.w16 … 2026.w11 (default).")
    ] = None,
    usrp: Annotated[str | None, typer.Option(help="Of usrp: b210 or x310:addr=A+addr=B.")] = None,
) -> None:
    """What this machine can and cannot do, and how to mend it.

    ✓ is there, ✗ is missing and needed, ○ is missing and optional. The exit code is 0 if runs can
    begin, else 1.
    """
    if testbed is not None and testbed not in kinds():
        raise Refused(f"--testbed: {no_such('testbed', testbed, kinds())}")
    findings = doctor.examine(output)
    if testbed in OAI_TESTBEDS:
        from ccu.testbeds.oai import doctor as oai_doctor  # takes longer than all else here

        flags = {"cc": "cubic", "testbed": testbed, "runtime": runtime}
        findings += oai_doctor.examine(resolve(flags | {"oai_version": oai_version, "usrp": usrp}))
    if testbed == PHONE:
        from ccu.testbeds.phone import doctor as phone_doctor

        findings += phone_doctor.examine(Phone())
    if as_json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        out.print(doctor.table(findings))
        print(doctor.conclusion(findings, testbed or EMULATED))
    if any(found.needed and not found.ok for found in findings):
        raise typer.Exit(1)


@app.command()
def clean() -> None:
    """Remove what killed runs left, and what testbeds that are down said: only what ccu made."""
    need_root("ccu clean")
    for sentence in resources.clean() + testbed_logs.remove() or ["nothing was left"]:
        print(sentence)
    if resources.kept():
        print("a testbed is up, brought up by hand; it ends by: ccu testbed down")


@app.command("list")
def list_command(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="cc, scenarios, testbeds or campaigns")
    ],
) -> None:
    """What there is to choose from."""
    sources: dict[str, Callable[[], dict[str, str]]] = {
        "cc": congestion.describe,
        "scenarios": scenarios.library,
        "testbeds": lambda: {name: kind.summary for name, kind in kinds().items()},
        "campaigns": definition.library,
    }
    if what not in sources:
        raise Refused(f"list: {no_such('list', what, sources)}")
    table = Table(box=None, show_header=False)
    for name, summary in sources[what]().items():
        table.add_row(name, summary)
    out.print(table)


def _pairs(written: list[str] | None) -> dict[str, str] | None:
    pairs = [item.partition("=") for item in written or []]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise Refused(f"--cc-param: {name!r} is no NAME=VALUE; write for example dtt=30ms")
    return {name: value for name, _, value in pairs} or None


def _direction(dl: bool, ul: bool, bidir: bool) -> str | None:
    chosen = [name for name, on in (("dl", dl), ("ul", ul), ("bidir", bidir)) if on]
    if len(chosen) > 1:
        raise Refused(f"--{chosen[1]}: --{chosen[0]} is given too; give one (--bidir is both)")
    return chosen[0] if chosen else None


def _show_result(directory: Path) -> None:
    content = json.loads((directory / "run.json").read_text())
    table = Table(box=None)
    for title in ("flow", "congestion control", "direction", "received"):
        table.add_column(title)
    for flow in content["flows"]:
        rate_bps = _received_bps(directory, flow)
        found = flow["cc_read_back"] or flow["cc"]
        table.add_row(flow["id"], found, flow["direction"], f"{rate_bps / 1e6:.1f} Mbit/s")
    out.print(table)
    reasons = "; ".join(content["verdict_reasons"])
    print(f"verdict: {content['verdict']}{f' ({reasons})' if reasons else ''}")
    print(f"run: {directory}\nnext: ddu analyze {shlex.quote(str(directory))}")


def _received_bps(directory: Path, flow: dict[str, Any]) -> float:
    if "with_drain_s" in flow:
        # What was queued when the time was over is among the bytes, and so is its time.
        return float(flow["received_bytes"]) * 8 / float(flow["with_drain_s"])
    report = json.loads((directory / f"raw/iperf3-{flow['id']}-server.json").read_text())
    end = report["end"]
    return float((end.get("sum_received") or end["sum"])["bits_per_second"])


def main() -> None:
    """Runs the command line; an error is one message on stderr and an exit code."""
    ending.main(app, "ccu")
