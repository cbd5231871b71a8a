# SPDX-License-Identifier: Apache-2.0
"""The commands `ccu campaign …`."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ccu import congestion
from ccu.campaigns import definition, display, field, plan_display, runner
from ccu.campaigns.cells import cells
from ccu.campaigns.engines import Engine
from ccu.campaigns.engines.local import Local
from ccu.campaigns.engines.parallel import Parallel
from ccu.campaigns.estimate import slowdown
from ccu.campaigns.folder import Folder, default_path
from ccu.campaigns.plan import plan_of
from ccu.campaigns.status import status_of
from ccu.campaigns.testbed import on_a_testbed
from ccu.cli.campaign_verify import verify
from ccu.cli.cluster_options import SCHEDULER, Tls
from ccu.host import cores, disk, programs, slots
from ccu.host.root import need_root
from ccu.spec.errors import Incomplete
from ccu.testbeds import driver_of
from ddu.campaign.definition import Campaign, Keep
from ddu.console.problems import Problem, RefusedError, Where, refusal
from ddu.console.suggestions import unknown

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Execute, resume and report campaigns: many runs from one file.",
)
out = Console(markup=False)  # Labels and titles are shown as they are written.
_NOTED_SLOWDOWN = 1.5
"""The slowdown by other programs from which on a plan shows it."""

Files = Annotated[
    list[str], typer.Argument(help="Campaign files, or names of `ccu campaign list`.")
]
OptionalFiles = Annotated[
    list[str] | None, typer.Argument(help="Campaign files, or names of `ccu campaign list`.")
]
Profile = Annotated[str | None, typer.Option(help="Profile of the file. (default: quick)")]
Output = Annotated[
    Path,
    typer.Option(help="Folder for the campaign's directory. (default: runs)", show_default=False),
]
EngineName = Annotated[
    str,
    typer.Option(
        help="Engine that executes the runs: local or dask. (default: local)", show_default=False
    ),
]
Scheduler = Annotated[str | None, typer.Option(help=SCHEDULER)]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of runs at a time. (default: one per core in virtual time, else 1)",
        show_default=False,
    ),
]
Keeping = Annotated[
    Keep | None,
    typer.Option(
        help="What stays on disk of each run: raw, tables or summary. (default: the campaign's)",
        show_default=False,
    ),
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Exit with an error if the testbed is in use.")
]
Place = Annotated[
    str | None,
    typer.Option(help="Field campaigns only. Place of the next block, after which it stops."),
]
Note = Annotated[str, typer.Option(help="Field campaigns only. Remark for run.json, with --place.")]
Directory = Annotated[Path, typer.Argument(help="Campaign directory.")]


@app.command()
def run(
    files: Files,
    profile: Profile = None,
    output: Output = Path("runs"),
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    tls: Tls = None,
    jobs: Jobs = None,
    keep: Keeping = None,
    no_wait: NoWait = False,
    place: Place = None,
    note: Note = "",
) -> None:
    """Execute every run of the campaign, or of several in a row, that has no result yet."""
    known_notices = set[str]()
    campaigns = [_read(file, profile, keep, output, known_notices) for file in files]
    for campaign in campaigns:
        cells(campaign)  # Raises RefusedError before a directory is made.
    how = _How(engine, scheduler, tls, jobs, not no_wait, _spot(place, note))
    incomplete = []
    for number, campaign in enumerate(campaigns, start=1):
        try:
            _run(campaign, output, how)
        except Incomplete as error:
            incomplete.append(f"{campaign.name}: {error}" if len(campaigns) > 1 else str(error))
        except BaseException:
            if number < len(campaigns):
                print("the same command goes on with the campaigns after it", file=sys.stderr)
            raise
    if incomplete:
        raise Incomplete("\n".join(incomplete))


def _run(campaign: Campaign, output: Path, how: _How) -> None:
    path = default_path(campaign, output)
    begins = not path.exists()
    new = [one for one in path.parents if not one.exists()]
    folder = Folder.make(path, campaign)
    try:
        _carry_out(folder, how)
    except RefusedError:
        if begins:
            folder.forget()
            with suppress(OSError):  # Another program has put something there.
                for one in new:
                    one.rmdir()
        raise


@app.command()
def resume(
    directory: Directory,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    tls: Tls = None,
    jobs: Jobs = None,
    keep: Keeping = None,
    no_wait: NoWait = False,
    place: Place = None,
    note: Note = "",
) -> None:
    """Resume a campaign that was stopped."""
    folder = Folder.open(directory)
    if keep is not None:
        with folder.locked():
            folder.keep(keep)
    _carry_out(folder, _How(engine, scheduler, tls, jobs, not no_wait, _spot(place, note)))


@app.command()
def status(directory: Directory) -> None:
    """Show the progress of a campaign, which may be running."""
    folder = Folder.open(directory)
    now = status_of(_work(folder, None))
    out.print(display.matrix(now, out.width))
    for sentence in runner.left_out_sentences(now.left_out):
        print(sentence)
    for cell, reason in now.failures:
        print(f"failed {cell.title}: {reason}")
    print(f"{now.done} of {now.planned} runs, {display.left(now.left_s)}")


@app.command()
def plan(
    files: OptionalFiles = None,
    every: Annotated[
        bool, typer.Option("--all", help="All campaigns of `ccu campaign list` with the profile.")
    ] = False,
    profile: Profile = None,
    output: Output = Path("runs"),
    jobs: Jobs = None,
    keep: Keeping = None,
) -> None:
    """Show the number of runs, hours and disk space of a campaign, or the sum of several.

    Changes nothing.
    """
    if every == bool(files):
        raise refusal("give names of campaigns, or --all", "see `ccu campaign list`")
    names = list(definition.library(profile)) if every else files or []
    if not names:
        raise refusal(f"no campaign has a profile {profile!r}", "take full", key="--profile")
    totals, left_out, refused = plan_display.PlanTable(), Counter[str](), list[Problem]()
    known_notices = set[str]()
    for name in names:
        try:
            campaign = _read(name, profile, keep, output, known_notices)
            work = _work(Folder(default_path(campaign, output), campaign), jobs)
            # Of several campaigns, one of which nothing can run is a row like others.
            if work.cells or len(names) == 1:
                runner.check(work, machine=False)
        except RefusedError as error:
            refused += error.problems
            continue
        if len(names) == 1:
            _show_plan(work)
            return
        totals.add(work, plan_of(work))
        left_out.update(work.left_out)
    if len(names) > 1:
        out.print(totals.table())
        for sentence in runner.left_out_sentences(left_out):
            print(sentence)
    if refused:
        raise RefusedError(refused)


def _show_plan(work: runner.Work) -> None:
    campaign, folder, sums = work.folder.campaign, work.folder, plan_of(work)
    now = sums.status
    table = Table(box=None, show_header=False)
    on = sorted({one.testbed.name for one in work.of_points})
    table.add_row("campaign", f"{campaign.name}, profile {campaign.profile}: {campaign.title}")
    table.add_row("factors", "; ".join(f"{k}: {', '.join(v)}" for k, v in campaign.factors.items()))
    table.add_row("runs", plan_display.design(now, campaign.repeats))
    many = "one run" if work.at_once == 1 else f"{work.at_once} runs"
    table.add_row(
        "time", f"{display.left(sums.left_s)} with {many} at a time, {now.done} runs done"
    )
    if sums.report_s:
        text = f"{display.about(sums.report_s)} of CPU time by `ddu campaign report`, afterwards"
        table.add_row("analysis", text)
    if busy := _busy(work):
        table.add_row("load", busy)
    passing = f", and up to {disk.amount(sums.passing_bytes)} meanwhile"
    table.add_row(
        "disk",
        f"about {disk.amount(sums.disk_bytes)} in {folder.path} (keep: {campaign.keep})"
        f"{passing if sums.passing_bytes else ''}",
    )
    table.add_row("testbed", ", ".join(on))
    if field.is_field(work):
        volumes = [cell.of_point.testbed.most_bytes or 0 for cell in work.to_do()]
        table.add_row("data", f"up to {disk.amount(sum(volumes))} over the operator's network")
    out.print(table)
    for sentence in runner.left_out_sentences(now.left_out):
        print(sentence)


def _busy(work: runner.Work) -> str:
    """Return how much longer the runs take while other programs use this machine's cores."""
    load, here = os.getloadavg()[0], cores.allowed()
    times = slowdown(load, work.at_once, here)
    if runner.disturbed_testbeds(work) or times < _NOTED_SLOWDOWN:
        return ""
    return f"{load:.0f} on {here} cores: {times:.0f} times as long while other programs use them"


@app.command()
def report(directory: Directory) -> None:
    """Analyse the runs and write the campaign's report (`ddu campaign report`)."""
    Folder.open(directory)
    ddu = programs.require("ddu")
    sys.stdout.flush()
    os.execv(ddu, [ddu, "campaign", "report", str(directory)])


app.command()(verify)


@app.command("list")
def list_command() -> None:
    """List the campaigns that come with the project."""
    table = Table(box=None, show_header=False)
    for name, title in definition.library().items():
        table.add_row(name, title)
    out.print(table)


def _spot(place: str | None, note: str) -> field.Spot | None:
    if note and place is None:
        raise refusal("is a remark on a place", "give --place, too", key="--note")
    return field.Spot(place, note) if place is not None else None


def _work(folder: Folder, jobs: int | None) -> runner.Work:
    """Return what there is to do, on this machine. Raises RefusedError."""
    work = runner.Work(folder, congestion.available_later())
    work.at_once = runner.at_once(work, jobs)
    return work


def _read(
    name: str, profile: str | None, keep: Keep | None, output: Path, known_notices: set[str]
) -> Campaign:
    """Return the campaign on a testbed, its report and stop rules checked. Raises RefusedError.

    Prints why the testbed or an option is not the preferred one, unless `known_notices` has it.
    """
    campaign = definition.read(definition.locate(name), profile)
    if keep is not None:
        campaign = campaign.model_copy(update={"keep": keep})
    check_names(campaign)
    campaign, notices = on_a_testbed(campaign, default_path(campaign, output))
    for notice in notices:
        if notice not in known_notices:
            print(f"ccu: {notice}", file=sys.stderr)
            known_notices.add(notice)
    return campaign


def check_names(campaign: Campaign) -> None:
    """Refuse metrics, columns and factors that the report or a stop rule names and nobody knows."""
    if not (campaign.report.model_fields_set or campaign.stop):
        return
    from ddu.campaign.checks import problems_of

    if problems := problems_of(campaign):
        raise RefusedError(problems)


@dataclass(frozen=True)
class _How:
    """The execution of runs, as the command line sets it."""

    engine: str
    scheduler: str | None
    tls: Path | None
    jobs: int | None
    wait: bool
    spot: field.Spot | None


def _carry_out(folder: Folder, how: _How) -> None:
    again = f"ccu campaign resume {shlex.quote(str(folder.path))}"
    spot = how.spot
    with ExitStack() as stack:
        stack.enter_context(folder.locked())
        engine, work = _engine(how, folder, stack)
        if any(driver_of(one).needs_root for one in work.of_points):
            need_root(f"{programs.find('ccu') or 'ccu'} {again.removeprefix('ccu ')}")
        if how.engine == "local":
            _take_turn(work, how.wait, stack)
            runner.check(work)
            runner.check_radio_time(work, print)
            # Workers have kernels of their own in virtual time, which this machine may lack.
            runner.share_runs(work, print)
        else:
            runner.check_not_empty(work)
        in_field = _field_engine(work, engine, spot)
        try:
            with display.shown(work, out, lines=in_field is not None) as listener:
                if in_field is None:
                    runner.carry_out(work, engine, listener)
                else:
                    field.carry_out(work, in_field, listener, field.ask_at_terminal, spot)
        except BaseException:
            print(f"stopped; resume with: {again}", file=sys.stderr)
            raise
    now = status_of(work)
    out.print(display.matrix(now, out.width))
    for cell, reason in now.failures:
        print(f"failed {cell.title}: {reason}")
    print(f"campaign: {folder.path}\nnext: ddu campaign report {shlex.quote(str(folder.path))}")
    if spot is not None and not now.complete:
        print(f"the next place: {again} --place NAME")
        return
    if not now.complete or now.failures:
        missing = now.planned - now.done
        raise Incomplete(f"{missing} of {now.planned} runs have no result")


def _take_turn(work: runner.Work, wait: bool, stack: ExitStack) -> None:
    """Keep other campaigns and runs from the campaign's testbeds until the stack ends.

    What needs no look at the machine is checked before, so that nobody waits for a refusal; the
    machine is not, as another run may have its ports until then.
    """
    locks = runner.locks(work)
    if locks:
        runner.check(work, machine=False)
    for lock in locks:
        stack.enter_context(slots.held(lock, wait, _say_that_it_waits))


def _say_that_it_waits(line: str) -> None:
    print(f"{line} (Ctrl-C aborts; --no-wait does not wait)")


def _field_engine(work: runner.Work, engine: Engine, spot: field.Spot | None) -> Local | None:
    """Return the engine, if the campaign is one in the field."""
    if not field.is_field(work):
        if spot is not None:
            raise refusal("no testbed of this campaign has places", "leave it out", key="place")
        return None
    if not isinstance(engine, Local):
        raise refusal("a field campaign runs on this machine only", "leave it out", key="--engine")
    if notice := field.notice(work):
        print(notice)
    return engine


def _engine(how: _How, folder: Folder, stack: ExitStack) -> tuple[Engine, runner.Work]:
    if how.engine == "local":
        for key, given in (("--scheduler", how.scheduler), ("--tls", how.tls)):
            if given:
                raise refusal("needs --engine dask", "give both or none", key=key)
        work = _work(folder, how.jobs)
        return Parallel(folder, work.at_once) if work.at_once > 1 else Local(folder), work
    if how.engine == "dask":
        if not how.scheduler:
            raise refusal(
                "dask: no scheduler is given",
                "give --scheduler ADDRESS (docs/scaling.md)",
                key="--engine",
            )
        if how.jobs is not None:
            raise refusal("each worker says how many", "leave it out", key="--jobs")
        if not how.wait:
            raise refusal("workers wait for their testbeds", "leave it out", key="--no-wait")
        from ccu.campaigns.engines.dask import connected

        engine = stack.enter_context(connected(how.scheduler, how.tls, folder))
        work = runner.Work(folder, engine.congestion_controls())
        work.at_once = engine.at_once()
        return engine, work
    engines = ("local", "dask")
    raise RefusedError(unknown("engine", how.engine, engines, where=Where(key="--engine")))
