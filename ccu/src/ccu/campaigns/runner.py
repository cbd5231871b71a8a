# SPDX-License-Identifier: Apache-2.0
"""The execution of a campaign: every cell without a result, until none is left to try."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from ccu import congestion, scenarios, traffic
from ccu.campaigns import stopping
from ccu.campaigns.analyst import Analyst
from ccu.campaigns.cells import Cell, cells
from ccu.campaigns.engines import Engine, Listener, Outcome
from ccu.campaigns.folder import Folder
from ccu.campaigns.keeping import reduce
from ccu.campaigns.sharing import Neighbours
from ccu.host import cores, programs
from ccu.runs import run as runs
from ccu.runs import trial
from ccu.spec.experiment import Experiment
from ccu.testbeds import check_traffic_is_carried, driver_of
from ddu.campaign.attempts import Attempts, State
from ddu.campaign.definition import Keep, Point, StopRule
from ddu.console.problems import Problem, RefusedError, Where, problems_of, refusal

_WITHOUT_EFFECT_ON_RADIO_TIME = {"flows", "cc_params", "seed", "duration_s", "scenario", "rtt_ms"}


class Work:
    """The cells of a campaign and their state, read from its directory.

    A cell is read again after an attempt (`update`), and at each pass while it has no result: the
    amount read after a run does not grow with the campaign.
    """

    def __init__(self, folder: Folder, there: set[str]) -> None:
        """`there`: the congestion controls that can be run."""
        self.folder = folder
        self.at_once = 1
        """The number of runs at a time."""
        every = cells(folder.campaign)
        self.by_point: dict[Point, list[Cell]] = {point: [] for point in folder.campaign.points}
        for cell in every:
            self.by_point[cell.point].append(cell)
        self.left_out: dict[str, int] = defaultdict(int)
        for point, group in list(self.by_point.items()):
            if missing := lacking(group[0].of_point, there):
                del self.by_point[point]
            for what in missing:
                self.left_out[what] += len(group)
        self.cells = [cell for cell in every if cell.point in self.by_point]
        begun = folder.begun()
        self._attempts = {
            cell: folder.attempts(cell) if begun and cell.slug in begun else Attempts()
            for cell in self.cells
        }
        self._enough: dict[Point, bool] = {}
        self._values: dict[tuple[Path, str], float | None] = {}
        self.only_repeat: int | None = None
        """The repeat whose cells are to do; None means all."""

    def keep_only(self, slugs: Collection[str]) -> None:
        """Leave out every cell but these."""
        self.cells = [cell for cell in self.cells if cell.slug in slugs]
        kept = set(self.cells)
        groups = {point: [one for one in group if one in kept]
                  for point, group in self.by_point.items()}  # fmt: skip
        self.by_point = {point: group for point, group in groups.items() if group}

    def attempts(self, cell: Cell) -> Attempts:
        """Return the attempts of `cell`, as last read."""
        return self._attempts[cell]

    def update(self, cell: Cell) -> Attempts:
        """Read the attempts of `cell` again."""
        attempts = self.folder.attempts(cell)
        if attempts != self._attempts[cell]:
            self._attempts[cell] = attempts
            self._enough.pop(cell.point, None)
        return attempts

    def state(self, cell: Cell) -> State:
        """Return the state of `cell`, as last read."""
        return self._attempts[cell].state(self.folder.campaign.retries)

    def to_do(self) -> Iterator[Cell]:
        """Yield the cells without a result that may be tried and whose point needs more repeats."""
        for cell in self.cells:
            if self.only_repeat not in (None, cell.repeat) or self.state(cell) == "done":
                continue
            self.update(cell)
            if self.state(cell) == "to do" and not self.enough(cell.point):
                yield cell

    def enough(self, point: Point) -> bool:
        """Return whether the stop rules, if there are any, are satisfied at `point`."""
        rules = self.folder.campaign.stop
        if not rules:
            return False
        if point not in self._enough:
            results = [self._attempts[cell].result for cell in self.by_point[point]]
            runs_done = [result.path for result in results if result is not None]
            self._enough[point] = all(self._satisfied(rule, runs_done) for rule in rules)
        return self._enough[point]

    def _satisfied(self, rule: StopRule, runs_done: list[Path]) -> bool:
        values = [self._value(rule, run) for run in runs_done]
        return stopping.enough(rule, [value for value in values if value is not None])

    def _value(self, rule: StopRule, run: Path) -> float | None:
        key = run, rule.metric
        if key not in self._values:
            self._values[key] = stopping.metric(run, rule.metric)
        return self._values[key]

    @property
    def firsts(self) -> list[Cell]:
        """Return the first cell of each point."""
        return [group[0] for group in self.by_point.values()]

    @property
    def of_points(self) -> list[Experiment]:
        """Return one experiment for each point."""
        return [first.of_point for first in self.firsts]


def at_once(work: Work, asked: int | None) -> int:
    """Return how many runs this machine does at a time, `asked` if that is possible.

    Raises RefusedError.
    """
    disturbed = disturbed_testbeds(work)
    if not disturbed:
        return asked or cores.allowed()
    if asked in (None, 1):
        return 1
    raise refusal(
        f"runs on the testbed {disturbed[0]} at the same time would disturb each other",
        "leave it out",
        key="--jobs",
    )


def disturbed_testbeds(work: Work) -> list[str]:
    """Return the testbeds of the campaign whose runs depend on what else the machine does."""
    return sorted({one.testbed.name for one in work.of_points if not driver_of(one).undisturbed})


def locks(work: Work) -> list[str]:
    """Return the names of the locks that keep other campaigns and runs from these testbeds."""
    return sorted({lock for one in work.of_points if (lock := driver_of(one).lock(one))})


def lacking(experiment: Experiment, there: set[str]) -> set[str]:
    """Return what the experiment needs and this machine does not have: congestion controls that
    `there` lacks, a set of measured traces."""
    absent = {experiment.scenario} if scenarios.sets.is_absent(experiment.scenario) else set()
    named = set(experiment.servers_ccs) - experiment.cc_files.keys()
    return absent if driver_of(experiment).own_kernel else absent | (named - there)


def check_not_empty(work: Work) -> None:
    """Refuse a campaign of which nothing can run."""
    if not work.cells:
        raise RefusedError(
            Problem(f"nothing can run: no machine here has {what}", fix)
            for what, fix in sorted(_absent(work.left_out).items())
        )


def check(work: Work, *, machine: bool = True) -> None:
    """Refuse a campaign that cannot work, before anything starts, with each mistake once.

    Without `machine`, check the campaign itself only: for a plan.
    """
    check_not_empty(work)
    firsts = work.firsts
    problems: list[Problem] = []
    if work.folder.campaign.stop and not all(one.capture for one in work.of_points):
        fix = "take one of them away"
        problems.append(Problem("needs analysed runs, and capture is off", fix, Where(key="stop")))
    for one in _distinct(firsts, without={"flows", "cc_params", "seed", "duration_s"}):
        problems += _refusals(one, partial(_check_link, one.of_point, machine))
    for one in _distinct(firsts, only={"flows", "cc_params", "traffic", "testbed"}):
        problems += _refusals(one, partial(_check_congestion_control, one.of_point, machine))
    if problems:
        raise RefusedError(dict.fromkeys(problems))
    if machine and work.folder.campaign.keep != "raw":
        programs.require("ddu")
    longest = max(firsts, key=lambda one: one.of_point.duration_s)
    with longest.located():
        runs.check(longest.of_point, work.folder.path, machine=machine)


def check_radio_time(work: Work, report: Callable[[str], None]) -> None:
    """Measure the radio's time at each point whose machine decides it, in a short trial each.

    Raises RefusedError for a machine that does not reach the campaign's least factor.
    """
    campaign = work.folder.campaign
    least = campaign.min_radio_time_factor
    if least is None or not any(work.to_do()):
        return
    problems = []
    for cell in _distinct(work.firsts, without=_WITHOUT_EFFECT_ON_RADIO_TIME):
        experiment = cell.of_point
        if not driver_of(experiment).radio_time_varies(experiment):
            continue
        factor = trial.radio_time_factor(experiment)
        label = driver_of(experiment).label(experiment)
        measured = "unknown" if factor is None else f"{factor:.2f} of real time"
        report(f"radio time, {label}: {measured}, at least {least:g} is wanted")
        if factor is None or factor < least:
            fix = "use fewer PRB or more cores, or lower it"
            where = campaign.where("min_radio_time_factor")
            problems.append(Problem(f"{label}: the radio's time is {measured}", fix, where))
    if problems:
        raise RefusedError(problems)


def _distinct(
    cells_of_points: list[Cell], without: set[str] | None = None, only: set[str] | None = None
) -> list[Cell]:
    """Return one cell per kind of experiment: `without` keys are ignored, or `only` keys
    compared; the kinds of traffic always are, which need programs of their own."""

    def kind(experiment: Experiment) -> tuple[object, ...]:
        keys = experiment.model_dump_json(exclude=without, include=only)
        return keys, *traffic.of_experiment(experiment)

    by_kind = {kind(one.of_point): one for one in reversed(cells_of_points)}
    return list(reversed(by_kind.values()))


def _check_congestion_control(experiment: Experiment, machine: bool) -> None:
    driver = driver_of(experiment)
    if driver.own_kernel:
        check_traffic_is_carried(experiment)
        driver.carries(experiment)
    else:
        congestion.check(experiment, now=False)
    if machine:
        runs.try_out(experiment)


def _check_link(experiment: Experiment, machine: bool) -> None:
    driver = driver_of(experiment)
    driver.check(experiment, runs.scenario_of(experiment))
    if machine:
        driver.check_machine(experiment)


def _refusals(cell: Cell, check_one: Callable[[], None]) -> list[Problem]:
    def check_and_place() -> None:
        with cell.located():
            check_one()

    return problems_of(check_and_place)


def left_out_sentences(counts: Mapping[str, int]) -> list[str]:
    """Return a sentence for each missing congestion control or set of traces, with the number of
    runs left out."""
    return [
        f"left out: {'1 run' if count == 1 else f'{count} runs'} of {name}, {_why(name)}"
        for name, count in sorted(counts.items())
    ]


def _absent(names: Iterable[str]) -> dict[str, str]:
    """Return what is missing, with where to get it: each set of traces, and all congestion
    controls together."""
    folders = {name: scenarios.sets.containing(name) for name in names}
    absent = {
        f"the traces of {folder.name}": scenarios.sets.how_to_get(folder)
        for folder in folders.values()
        if folder is not None
    }
    if controls := [name for name, folder in sorted(folders.items()) if folder is None]:
        absent[", ".join(controls)] = "see what there is: ccu list cc"
    return absent


def _why(name: str) -> str:
    if (folder := scenarios.sets.containing(name)) is None:
        return "which is not on this machine"
    return f"whose traces are not on this machine: {scenarios.sets.how_to_get(folder)}"


def share_runs(work: Work, report: Callable[[str], None]) -> None:
    """Take the runs to do that a campaign in the same folder has made."""
    if not any(driver_of(one).repeatable for one in work.of_points):
        return
    neighbours, shared = Neighbours(work.folder), 0
    for cell in work.to_do():
        if neighbours.give(cell):
            work.update(cell)
            shared += 1
    if shared:
        report(f"runs shared with other campaigns in {work.folder.path.parent}: {shared}")


def carry_out(work: Work, engine: Engine, listener: Listener) -> None:
    """Attempt the cells to do, in as many passes as there are tries. Completed runs are kept.

    Raises RefusedError or Interrupted when it cannot continue.
    """
    for sentence in left_out_sentences(work.left_out):
        listener.note(sentence)
    _reduce_earlier_runs(work, listener)
    for _ in range(work.folder.campaign.retries + 1):
        tried = False
        with closing(engine.attempts(work.to_do(), listener)) as outcomes:
            for outcome in outcomes:
                tried = True
                result = work.update(outcome.cell).result
                if outcome.error and result:
                    outcome = _completed(outcome.cell, result.path, work.folder.campaign.keep)
                listener.ended(outcome)
        if not tried:
            return


def _completed(cell: Cell, run: Path, keep: Keep) -> Outcome:
    """Keep what the campaign keeps of a complete run whose process was lost before it did so."""
    with Analyst() as analyst:
        return Outcome(cell, None, reduce(run, keep, analyst))


def _reduce_earlier_runs(work: Work, listener: Listener) -> None:
    """Keep of earlier runs what the campaign keeps: it may have been ended just after a run, or
    keep less than before."""
    keep = work.folder.campaign.keep
    if keep == "raw":
        return
    with Analyst() as analyst:
        for cell in work.cells:
            for attempt in work.attempts(cell):
                if warning := reduce(attempt.path, keep, analyst):
                    listener.note(f"{cell.title}: {warning}")
