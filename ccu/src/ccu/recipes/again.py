# SPDX-License-Identifier: Apache-2.0
"""Chosen runs of a campaign, made again in a folder of their own."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ccu import congestion
from ccu.campaigns import runner
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Outcome
from ccu.campaigns.engines.local import Local
from ccu.campaigns.engines.parallel import Parallel
from ccu.campaigns.folder import Folder, default_path
from ccu.recipes.report import Report
from ddu.campaign.definition import Campaign


def made_again(
    campaign: Campaign, chosen: Collection[str], output: Path, report: Report, jobs: int | None
) -> Path:
    """Run the cells of the campaign whose slugs are `chosen`; return the campaign's directory.

    What `output` has of them already is not run again. Raises RefusedError.
    """
    folder = Folder.make(default_path(campaign, output), campaign)
    with folder.locked():
        work = runner.Work(folder, congestion.available_later())
        work.keep_only(chosen)
        work.at_once = runner.at_once(work, jobs)
        runner.check(work)
        engine = Parallel(folder, work.at_once) if work.at_once > 1 else Local(folder)
        runner.carry_out(work, engine, _Words(report, len(work.cells)))
    return folder.path


class _Words:
    """A listener that says what is done."""

    def __init__(self, report: Report, count: int) -> None:
        self.note, self._count, self._ended = report, count, 0

    def started(self, cell: Cell) -> None:
        pass

    def stage(self, cell: Cell, stage: str, ratio: float) -> None:
        pass

    def ended(self, outcome: Outcome) -> None:
        self._ended += 1
        failed = f": {outcome.error}" if outcome.error else ""
        self.note(f"run {self._ended} of {self._count}: {outcome.cell.title}{failed}")
