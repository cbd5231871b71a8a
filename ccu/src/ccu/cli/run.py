# SPDX-License-Identifier: Apache-2.0
"""`ccu run`: one experiment, from flags and a file to its run directory."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from ccu import scenarios
from ccu.cli import progress
from ccu.cli.help import ALL, HelpOfTestbed
from ccu.cli.options import experiment_options, takes_flags
from ccu.cli.results import Results
from ccu.host.root import need_root
from ccu.runs import run as runs
from ccu.runs import turn
from ccu.scenarios.resolve import collect, resolve_written
from ccu.spec import radio
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.keys import flag_of
from ccu.spec.places import Places, written_at
from ccu.testbeds import driver_of, drivers
from ccu.testbeds.choice import choose
from ddu.cli.results import AsJson, Ending, Open
from ddu.console.problems import Where, refusal

app = typer.Typer(add_completion=False)
out = Console()

Output = Annotated[Path, typer.Option(help="Directory for run directories.")]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Record only; `ddu analyze` can follow later.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check and print the experiment; start nothing.")
]


@app.command(cls=HelpOfTestbed, epilog=f"{ALL}: the options of all testbeds, too.")
@takes_flags(experiment_options(), drivers(), about_run=True)
def run(
    flags: dict[str, Any],
    output: Output = Path("runs"),
    dry_run: DryRun = False,
    file: Annotated[
        Path | None,
        typer.Option("-f", "--file", help="YAML file with the same options (docs/experiment.md)."),
    ] = None,
    no_report: NoReport = False,
    as_json: AsJson = False,
    open_report: Open = False,
) -> None:
    """Run one experiment, record it in a new directory, and analyse it.

    \b
    ccu run --cc cubic --prb 106           40 MHz of 5G, downlink, 30 s
    ccu run --cc ./mine.py --rtt 50ms      a congestion control of your own
    ccu run --flows cubic@0,reno@10        two flows, the second 10 s later
    ccu run --cc bbr --scenario ./my.yaml  over a trace of your own
    ccu run -f my.yaml --dry-run           print a file's experiment
    """
    results = Results(not no_report, Ending(as_json, open_report))
    machines = {
        option.flag: flags.pop(str(option.flag).removeprefix("--").replace("-", "_"), None)
        for driver in drivers().values()
        if (option := driver.elsewhere)
    }
    written, places = collect(flags, file)
    experiment = resolve_written(*_chosen(written, places))
    with written_at(places):
        for flag, machine in machines.items():
            if machine is not None:
                _perform_elsewhere(experiment, str(flag), machine, output, dry_run)
                return
        perform(experiment, output, dry_run, results)


def _chosen(written: Mapping[str, Any], places: Places) -> tuple[dict[str, Any], Places]:
    """Return the options with the values that this machine chooses for those not given, such as the
    testbed; print why a choice is not the preferred one."""

    def with_more(more: Mapping[str, Any]) -> tuple[dict[str, Any], Places]:
        return {**written, **more}, {**places, **{key: Where(key=flag_of(key)) for key in more}}

    choices = choose(written, lambda more: [resolve_written(*with_more(more))])
    for choice in choices:
        if choice.notice:
            print(f"ccu: {choice.notice}", file=sys.stderr)
    return with_more({choice.key: choice.value for choice in choices})


def _perform_elsewhere(
    experiment: Experiment, flag: str, machine: str, output: Path, dry_run: bool
) -> None:
    """Run the experiment on another machine, which `flag` of the testbed names; print the directory
    into which its run was copied."""
    driver = driver_of(experiment)
    if driver.elsewhere is None or driver.elsewhere.flag != flag:
        able = [name for name, one in drivers().items() if (o := one.elsewhere) and o.flag == flag]
        fix = f"add --testbed {' or '.join(able)}, or leave it out"
        raise refusal(f"is not for the testbed {experiment.testbed.name}", fix, key=flag)
    if made := driver.run_elsewhere(experiment, machine, output, dry_run):
        print(f"brought here: {made}\nnext: ddu analyze {shlex.quote(str(made))}")


def perform(experiment: Experiment, output: Path, dry_run: bool, results: Results) -> Path | None:
    """Run the experiment, show its results and return its directory; in a dry run, print the
    experiment.

    Raises RefusedError, RunFailed or NotAnalysed.
    """
    driver = driver_of(experiment)
    notice = driver.notice
    if dry_run:
        print(resolved(experiment, runs.check(experiment, output)), end="")
        print(notice([experiment]), end="\n" if notice([experiment]) else "")
        return None
    if driver.needs_root:
        need_root()
    console = Console(stderr=True) if results.ending.as_json else out
    if sentence := notice([experiment]):
        console.print(sentence, markup=False, highlight=False)
    try:
        with (
            turn.taken(experiment, output, lambda line: console.print(line, soft_wrap=True)),
            progress.shown(console) as report,
        ):
            if experiment.capture and driver.undisturbed:
                report = _preparing(results, report)
            directory = runs.run(experiment, output, report)
    except RunFailed as error:
        results.show_failure(error)
        raise
    results.show(directory)
    return directory


def _preparing(results: Results, report: runs.Listener) -> runs.Listener:
    """Return a listener that prepares the results at the first stage: an experiment that is refused
    has none."""
    prepare = cache(results.prepare)

    def listen(stage: str, ratio: float) -> None:
        prepare()
        report(stage, ratio)

    return listen


def resolved(experiment: Experiment, scenario: Path) -> str:
    """Return the experiment as YAML, without the radio where the scenario gives capacity."""
    note, unused = "", set[str]()
    if scenarios.gives_capacity(scenario):
        unused = {*radio.FIELDS, radio.RADIO}
        left_out = ", ".join(sorted(unused))
        note = f"# {experiment.scenario} gives capacity itself, so there is no {left_out}\n"
    known = experiment.model_dump(mode="json", exclude_none=True, exclude=unused)
    return note + yaml.safe_dump(known, sort_keys=False)
