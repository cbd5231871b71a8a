# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory: its run directories are the only record of what was run.

There is no other state, so a crash cannot leave an inconsistent one.

    campaign.json             what is run, as resolved from the file and the profile
    runs/<cell>/cell.json     levels, repeat and seed of the cell
    runs/<cell>/<run>/        its run directories: one for each attempt
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ccu.campaigns.cells import Cell
from ccu.runs import manifest
from ddu.campaign.definition import Campaign, Keep
from ddu.campaign.load import SCHEMA_VERSION, read_definition
from ddu.console.ownership import give_to_sudo_user, make_directory
from ddu.console.problems import refusal

State = Literal["done", "failed", "to do"]


@dataclass(frozen=True)
class Attempt:
    """A run directory of a cell, described by its run.json."""

    path: Path
    status: str
    verdict: str | None
    failure: dict[str, str] | None
    took_s: float | None
    """The time of this machine from start to end of the run."""

    @classmethod
    def read(cls, file: Path) -> Attempt | None:
        """Return the attempt of a run.json; None if the file is incomplete, and so no result."""
        try:
            content = json.loads(file.read_text())
            failure = content.get("failure")
            status, verdict = str(content["status"]), content["verdict"]
            return cls(file.parent, status, verdict, failure, _took_s(content))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    @property
    def counts(self) -> bool:
        """Return whether it is a result."""
        return self.status == "finished" and self.verdict != "invalid"

    @property
    def tried(self) -> bool:
        """Return whether it counts as a try: it was not interrupted from outside."""
        return self.status in ("finished", "failed") and self._stage not in ("ccu", "disk")

    @property
    def reason(self) -> str:
        if self.failure:
            return f"{self._stage}: {self.failure.get('reason', '')}"
        return self.verdict or self.status

    @property
    def _stage(self) -> str:
        return (self.failure or {}).get("stage", "")


def _took_s(content: dict[str, Any]) -> float | None:
    """Return the time of a run by its run.json; those without `cost` were in real time."""
    if cost := content.get("cost"):
        return float(cost["wall_s"]) + float(cost.get("analysis_s", 0.0))
    times = content.get("time") or {}
    begin, end = times.get("start_utc_ns"), times.get("stop_utc_ns")
    return None if begin is None or end is None else (end - begin) / 1e9


class Attempts(tuple[Attempt, ...]):
    """The attempts of one cell, the oldest first."""

    @property
    def result(self) -> Attempt | None:
        """Return the attempt that counts: the first that is a result."""
        return next((one for one in self if one.counts), None)

    def state(self, retries: int) -> State:
        """Return the state; `failed` after as many tries as the campaign allows."""
        if self.result is not None:
            return "done"
        return "failed" if sum(one.tried for one in self) > retries else "to do"


class Folder:
    """The directory of one campaign."""

    def __init__(self, path: Path, campaign: Campaign) -> None:
        self.path = path
        self.campaign = campaign

    @classmethod
    def make(cls, path: Path, campaign: Campaign) -> Folder:
        """Make the directory, or open it if this campaign has made it. Raises RefusedError."""
        if (path / "campaign.json").exists():
            there = cls.open(path)
            if not there.campaign.same_runs(campaign):
                raise refusal(
                    "was started with another version of this campaign "
                    f"({_difference(there.campaign, campaign)})",
                    "restore the file and resume, or choose another --output",
                    file=path,
                )
            with there.locked():
                there.campaign = campaign
                there._write()
            return there
        try:
            if not path.is_dir():
                make_directory(path)
        except OSError as error:
            raise refusal(f"{path}: {error.strerror}", key="--output") from None
        made = cls(path, campaign)
        made._write()
        return made

    def keep(self, keep: Keep) -> None:
        """Set what stays of the campaign's runs from now on."""
        if keep != self.campaign.keep:
            self.campaign = self.campaign.model_copy(update={"keep": keep})
            self._write()

    def _write(self) -> None:
        content = {
            "schema_version": SCHEMA_VERSION,
            "campaign": self.campaign.model_dump(mode="json"),
            "software": manifest.software(),
        }
        manifest.write_whole(self.path / "campaign.json", content)
        give_to_sudo_user(self.path)

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Open a directory. Raises RefusedError if it is not a campaign's."""
        return cls(path, read_definition(path)[0])

    def forget(self) -> None:
        """Remove the directory, unless a run has begun in it."""
        if not self.begun():
            shutil.rmtree(self.path, ignore_errors=True)

    def cell(self, cell: Cell) -> Path:
        """Return the folder for the run directories of `cell`."""
        return self.path / "runs" / cell.slug

    def prepare(self, cell: Cell) -> Path:
        """Make the folder of `cell` with its cell.json, and return it."""
        folder = self.cell(cell)
        if not (folder / "cell.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            content = {
                "levels": dict(cell.point),
                "repeat": cell.repeat,
                "seed": cell.seed,
            }
            manifest.write_whole(folder / "cell.json", content)
            give_to_sudo_user(folder)
        return folder

    def begun(self) -> set[str]:
        """Return the slugs of the cells that have a folder: faster than a look for each."""
        runs = self.path / "runs"
        return {entry.name for entry in runs.iterdir()} if runs.is_dir() else set()

    def attempts(self, cell: Cell) -> Attempts:
        """Return the attempts of the cell, read from its run directories."""
        files = sorted(self.cell(cell).glob("*/run.json"))
        return Attempts(attempt for attempt in map(Attempt.read, files) if attempt is not None)

    def state(self, cell: Cell) -> State:
        """Return the state of the cell, read from its run directories."""
        return self.attempts(cell).state(self.campaign.retries)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory. Raises RefusedError while another ccu works on this campaign."""
        with (self.path / ".lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise refusal("another ccu works on this campaign", file=self.path) from None
            yield


def default_path(campaign: Campaign, output: Path) -> Path:
    return output / f"campaign-{campaign.name}-{campaign.profile}"


def _difference(before: Campaign, now: Campaign) -> str:
    differing = [
        name for name in Campaign.model_fields if getattr(before, name) != getattr(now, name)
    ]
    return f"differing in {', '.join(differing)}"
