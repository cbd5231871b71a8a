# SPDX-License-Identifier: Apache-2.0
"""Whether runs and campaigns are as they were written (docs/run-directory.md#integrity)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ddu.campaign.load import read_definition
from ddu.console.input_file import read_json
from ddu.console.problems import Problem, RefusedError, Where, problems_of
from ddu.errors import FutureSchema, NotARun
from ddu.run.find import runs_under
from ddu.run.integrity import (
    CHANGED,
    damages,
    damages_of_run,
    digest_of_raw,
    files_of,
    is_intact,
    raw_of,
    regular_files,
)
from ddu.run.manifest import Manifest, manifest_of, read_content
from ddu.tables.results import OF_ANOTHER_RUN, SCHEMA_VERSION, SUMMARY, how_to_repair
from ddu.tables.store import RESULTS
from ddu.tables.summary_form import need_form

Outcome = Literal["whole", "broken", "unknown", "unfinished"]
"""`unknown`: nothing is wrong with what can be checked, but not everything has a digest.
`unfinished`: a run that failed, was interrupted or is running, and so is not a result."""


@dataclass(frozen=True)
class Verified:
    """The outcome for a run directory, or for a campaign's own records."""

    path: Path
    outcome: Outcome
    problems: tuple[Problem, ...] = ()
    """The files that are broken."""
    remarks: tuple[str, ...] = ()
    """The reasons why it is not whole although nothing is broken."""
    files_count: int = 0
    """Files whose digests were compared."""

    def to_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "outcome": self.outcome,
            "problems": [one.to_json() for one in self.problems],
            "remarks": list(self.remarks),
            "files_count": self.files_count,
        }


def verify(path: Path) -> Iterator[Verified]:
    """Yield what is found of the run in `path`, or of the campaign and all runs in it.

    Raises NotARun where there is neither.
    """
    if (path / "run.json").exists():
        yield _run(path)
        return
    is_campaign = (path / "campaign.json").exists()
    if is_campaign:
        yield _campaign(path)
    runs = runs_under(path)
    if not runs and not is_campaign:
        raise NotARun(path, "neither a run nor a campaign, and has none in it", "name one")
    for run in runs:
        yield _run(run)


def _run(path: Path) -> Verified:
    try:
        content = read_content(path)
        manifest = manifest_of(path, content)
    except FutureSchema as error:
        return Verified(path, "unknown", remarks=(str(error),))
    except RefusedError as error:
        return Verified(path, "broken", error.problems)
    again = f"restore it from a copy, or repeat the run with `ccu rerun {path}`"
    problems, remarks = list[Problem](), list[str]()
    damaged = damages_of_run(path, content, manifest.dropped)
    problems += [_problem(path / one.file, one.rule, again) for one in damaged]
    raw = files_of(content)
    if raw is None and manifest.status == "finished":
        remarks.append("run.json has no digests of the raw data, which are older than digests")
    count = len((raw or {}).keys() - manifest.dropped)
    count += _check_results(path, content, manifest.dropped, problems, remarks)
    if problems:
        return Verified(path, "broken", tuple(problems), tuple(remarks), count)
    if manifest.status != "finished":
        return Verified(path, "unfinished", (), (_unfinished(manifest), *remarks), count)
    return Verified(path, "unknown" if remarks else "whole", (), tuple(remarks), count)


def _unfinished(manifest: Manifest) -> str:
    """Return how far the run came, and why no further."""
    failure = manifest.failure
    if failure is None:
        return manifest.status
    if failure.stage == manifest.status:  # `interrupted`, whose reason says by which signal
        return failure.reason
    return f"{manifest.status}: {failure.stage}: {failure.reason}"


def _check_results(
    path: Path,
    run: Mapping[str, Any],
    dropped: Set[str],
    problems: list[Problem],
    remarks: list[str],
) -> int:
    """Add what is wrong with the results of `ddu analyze` in the run with this run.json; return how
    many files have a digest."""
    file = path / SUMMARY
    if not file.exists():
        return 0
    again = how_to_repair(path)
    try:
        content = read_json(file)
        version, files = content.get("schema_version"), files_of(content)
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        problems.append(_problem(file, f"cannot be read ({error})", again))
        return 0
    newer = isinstance(version, int) and version > SCHEMA_VERSION
    if newer:
        remarks.append(f"{SUMMARY} has schema_version {version}, newer than {SCHEMA_VERSION}")
    if is_intact(content) is False:
        problems.append(_problem(file, CHANGED, again))
    elif raw_of(content) not in (None, digest_of_raw(run)):
        problems.append(_problem(file, OF_ANOTHER_RUN, again))
    elif not newer:
        problems += problems_of(lambda: need_form(file, content, again))
    if files is None:
        remarks.append(f"{SUMMARY} has no digests of the tables, which are older than digests")
        return 0
    kept = {name: files[name] for name in files.keys() - dropped}
    problems += [_problem(path / one.file, one.rule, again) for one in damages(path, kept.values())]
    there = [one for name in RESULTS for one in _files(path / name)]
    problems += [
        _problem(one, "is of another analysis", again)
        for one in there
        if str(one.relative_to(path)) not in files
    ]
    return len(kept)


def _campaign(path: Path) -> Verified:
    """Check the records of a campaign, without its runs."""
    problems, remarks = list[Problem](), list[str]()
    try:
        read_definition(path)
    except RefusedError as error:
        problems += error.problems
    checked = [] if problems else [path / "campaign.json"]
    for file in (*checked, *sorted(path.glob("runs/*/cell.json"))):
        try:
            intact = is_intact(read_json(file))
        except (OSError, ValueError, AttributeError) as error:
            problems.append(_problem(file, f"cannot be read ({error})", "restore it from a copy"))
            continue
        if intact is None:
            remarks.append(f"{file.relative_to(path)} has no digest")
        elif not intact:
            problems.append(_problem(file, CHANGED, "restore it from a copy"))
    outcome: Outcome = "broken" if problems else "unknown" if remarks else "whole"
    return Verified(path, outcome, tuple(problems), tuple(remarks))


def _files(path: Path) -> list[Path]:
    return regular_files(path) if path.is_dir() else [path] if path.exists() else []


def _problem(file: Path, rule: str, fix: str) -> Problem:
    return Problem(rule, fix, Where(str(file)))
