# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory: its run directories are the only record of what was run.

There is no other state, so a crash cannot leave an inconsistent one.

    campaign.json             what is run, as resolved from the file and the profile
    runs/<cell>/cell.json     levels, repeat and seed of the cell
    runs/<cell>/<run>/        its run directories: one for each attempt
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccu.campaigns.cells import Cell
from ccu.runs.manifest import software
from ddu.campaign.attempts import Attempts, State
from ddu.campaign.definition import Campaign, Keep
from ddu.campaign.load import SCHEMA_VERSION, read_definition
from ddu.console.ownership import give_to_sudo_user, make_directory
from ddu.console.problems import refusal
from ddu.errors import unwritable_output
from ddu.run.manifest import write_json


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
            raise unwritable_output(path, "cannot be made", error) from None
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
            "software": software(),
        }
        write_json(self.path / "campaign.json", content)
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
            content = {"levels": dict(cell.point), "repeat": cell.repeat, "seed": cell.seed}
            write_json(folder / "cell.json", content)
            give_to_sudo_user(folder)
        return folder

    def begun(self) -> set[str]:
        """Return the slugs of the cells that have a folder: faster than a look for each."""
        runs = self.path / "runs"
        return {entry.name for entry in runs.iterdir()} if runs.is_dir() else set()

    def attempts(self, cell: Cell) -> Attempts:
        """Return the attempts of the cell, read from its run directories."""
        return Attempts.read(self.cell(cell))

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
