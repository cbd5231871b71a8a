# SPDX-License-Identifier: Apache-2.0
"""The runs to compare, and which of them are repeats of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.api import Run, open_run
from ddu.compare.experiments import Settings, settings_of
from ddu.compare.labels import parts_of_label
from ddu.console.problems import RefusedError, refusal
from ddu.report.figures import panels
from ddu.run.find import runs_under

_NEEDED = (
    "t_s", "flow", "cc", "tcp_throughput_bps", "tcp_sending_rate_bps", "tcp_rtt_ms",
    "tcp_rtt_count",
)  # fmt: skip
"""The columns of distributions and intervals; those with a panel are kept too."""


@dataclass(frozen=True)
class Compared:
    """The numbers and the aligned table of a run, and the label by which it is compared."""

    path: Path
    label: str
    summary: dict[str, Any]
    aligned: pd.DataFrame
    copies: tuple[Path, ...] = ()
    """Other directories that hold this same run; they are not counted."""
    settings: Settings = field(default_factory=dict)
    """The settings that determined its packets beside the seed (`ddu.compare.experiments`)."""
    seed: int | None = None
    repeats: Path | None = None
    """An earlier run of this experiment and seed, on a testbed that repeats it to the bit."""

    @property
    def is_result(self) -> bool:
        """Whether the machine kept up: otherwise this is not a result of the network."""
        return bool(self.summary["verdict"] != "invalid")


Refused = Callable[[RefusedError], None]
"""A function of why a run cannot be compared, which raises it or leaves the run out."""


def _raise(error: RefusedError) -> None:
    raise error


def load_runs(
    paths: list[Path], by: str, reuse: bool = True, refused: Refused = _raise
) -> list[Compared]:
    """Return the runs, analysed if they were not yet, labelled by `by`, one of GROUPINGS, and by
    what else differs between runs of one label.

    A directory stands for the runs in it that finished, a campaign's for all of them, except those
    without a capture; a run that is there more than once, copied, linked or imported again, is
    taken once. Raises RefusedError when fewer than two are there, and what `refused` raises.
    """
    directories: dict[Path, Run] = {}
    for run in (run for each in paths for run in _runs_in(each, refused)):
        directories.setdefault(run.path.resolve(), run)
    distinct = _apart(list(directories.values()))
    if len(distinct) < 2:
        pairs = [(run, other) for run, *others in distinct for other in others]
        same = "".join(f"; {_same(run.path, other.path)}" for run, other in pairs)
        raise refusal(f"{len(distinct)} run given{same}", "give two or more run directories")
    loaded = [
        one
        for run, *others in distinct
        if (one := _load(run, by, reuse, tuple(each.path for each in others), refused))
    ]
    if len(loaded) < 2:
        rule = f"{len(loaded)} run is left that can be compared"
        raise refusal(rule, "give two or more, or repair the others")
    if by == "run":
        named = zip(loaded, names_of(loaded), strict=True)
        return [replace(run, label=name) for run, name in named]
    return _marked(_told_apart(loaded))


def names_of(runs: Sequence[Compared]) -> list[str]:
    """Return a name for each run: that of its directory, with as many folders before it as no other
    run has, since parallel runs of a campaign can have the same."""
    paths = [run.path.resolve().parts for run in runs]
    endings = Counter(one for path in set(paths) for one in _endings(path))
    return ["/".join(next(one for one in _endings(path) if endings[one] == 1)) for path in paths]


def _endings(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the last part of a path, the last two, and so on to all of it."""
    return (path[at:] for at in reversed(range(len(path))))


def _told_apart(runs: list[Compared]) -> list[Compared]:
    """Return the runs, with what differs between the experiments of one label in the label."""
    labels = {run.label: [one for one in runs if one.label == run.label] for run in runs}
    parts = {
        one.path: said
        for group in labels.values()
        for one, said in zip(group, parts_of_label([one.settings for one in group]), strict=True)
    }
    return [replace(run, label=", ".join([run.label, *parts[run.path]])) for run in runs]


def _marked(runs: list[Compared]) -> list[Compared]:
    """Return the runs, with those marked that repeat an earlier one to the bit: in virtual time
    the seed determines each packet, so that the second run is no second observation."""
    first: dict[object, Path] = {}
    marked = []
    for run in runs:
        earlier = first.setdefault(_observation(run), run.path)
        marked.append(run if earlier == run.path else replace(run, repeats=earlier))
    return marked


def _observation(run: Compared) -> object:
    """Return what two runs share that are one observation. Their numbers are among it: another
    version of a program may be what is compared."""
    if run.summary.get("clock") != "virtual" or not run.is_result:
        return run.path
    return run.label, run.seed, run.summary["throughput_bps"], str(run.summary["rtt_ms"])


def one_observation(runs: Iterable[Compared]) -> list[str]:
    """Return a sentence for each run that repeats another one to the bit."""
    return [
        f"{run.path} has the experiment and the seed of {run.repeats}, and virtual time repeats a "
        "run to the bit: they are one observation, and count once. Repeat it with another --seed."
        for run in runs
        if run.repeats is not None
    ]


def unfinished(paths: Iterable[Path]) -> list[Path]:
    """Return the runs in the directories that did not finish, and are left out."""
    return [run.path for run in _found(paths) if not _is_finished(run)]


def uncaptured(paths: Iterable[Path]) -> list[Path]:
    """Return the runs in the directories that finished without a capture, and are left out."""
    return [run.path for run in _found(paths) if _is_finished(run) and not _has_packets(run)]


def _found(paths: Iterable[Path]) -> Iterator[Run]:
    """Yield the runs in the directories among these paths that can be read."""
    for path in paths:
        if not (path / "run.json").exists():
            yield from _readable(runs_under(path), lambda _: None)


def same_runs(runs: Iterable[Compared]) -> list[str]:
    """Return a sentence for each pair of directories that hold the same run."""
    return [f"{_same(run.path, other)}: it is counted once" for run in runs for other in run.copies]


def _same(run: Path, other: Path) -> str:
    return f"{run} and {other} hold the same run"


def _apart(runs: list[Run]) -> list[list[Run]]:
    same: dict[object, list[Run]] = {}
    for run in runs:
        same.setdefault(_identity(run), []).append(run)
    return list(same.values())


def _identity(run: Run) -> object:
    """Return what a copy shares and a repeat does not: the name that the run was given, the
    nanosecond of its start, and its experiment, as all runs in virtual time start at one time. A
    run without a start time has no copies."""
    manifest = run.manifest
    started = manifest.time.start_utc_ns or manifest.time.traffic_start_utc_ns
    if not started:
        return run.path.resolve()
    return manifest.run, started, manifest.experiment.model_dump_json()


def _runs_in(path: Path, refused: Refused) -> list[Run]:
    if (path / "run.json").exists() or not path.is_dir():
        return _readable([path], refused)
    finished = [run for run in _readable(runs_under(path), refused) if _is_finished(run)]
    if not finished:
        raise refusal("contains no run that finished", "give directories of runs", file=path)
    captured = [run for run in finished if _has_packets(run)]
    if not captured:
        raise refusal(
            "contains no run with a capture", "repeat them without --no-capture", file=path
        )
    return captured


def _readable(paths: Iterable[Path], refused: Refused) -> list[Run]:
    """Return the runs whose run.json can be read."""
    runs = []
    for path in paths:
        try:
            run = open_run(path)
            _ = run.manifest
        except RefusedError as error:
            refused(error)
        else:
            runs.append(run)
    return runs


def _is_finished(run: Run) -> bool:
    return run.manifest.status == "finished"


def _has_packets(run: Run) -> bool:
    """Return whether the run can be analysed, or was."""
    return bool(run.manifest.captures) or (run.path / "summary.json").exists()


def _label(summary: dict[str, Any], by: str) -> str:
    """Return the label; runs with other changes are not repeats of each other."""
    changes = summary.get("changes", [])
    said = [f"{one['at_s']:g}s:{one['change']}" for one in changes]
    return ", ".join([str(summary.get(by)), *said])


def direction_of(summary: dict[str, Any]) -> str:
    """Return the direction of the first flow, whose radio columns are shown, as in its report."""
    flows = summary.get("flows") or [summary]
    return str(flows[0].get("direction"))


def _load(
    run: Run, by: str, reuse: bool, copies: tuple[Path, ...], refused: Refused
) -> Compared | None:
    try:
        if not reuse:
            run.analyze()
        summary, table = run.summary, run.aligned
    except RefusedError as error:
        refused(error)
        return None
    label = "" if by == "run" else _label(summary, by)
    wanted = {*_NEEDED, *(known.name for known, _ in panels(table, direction_of(summary)))}
    kept = table[[name for name in table if name in wanted]]
    seed = run.manifest.seeds.get("experiment")
    return Compared(run.path, label, summary, kept, copies, settings_of(run.manifest), seed)
