# SPDX-License-Identifier: Apache-2.0
"""Publishing a campaign while it runs: all of its current runs at a time."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Literal

from ddu import interpreter
from ddu.campaign.lock import is_worked_on
from ddu.console.problems import RefusedError
from ddu.errors import StoreAway, StoreError
from ddu.run.manifest import read_manifest
from ddu.store.campaigns import record_campaign
from ddu.store.connect import connected
from ddu.store.live import Report, follow
from ddu.store.publish import publish

_LOOK_EVERY_S = 0.5
_NICENESS = 5
"""A third of the processor time of others: at 19 a busy machine publishes nothing for minutes."""


def follow_campaign(url: str, path: Path, report: Report, replace: bool = False) -> tuple[int, int]:
    """Follow every run of any machine while it runs, and publish it when it has ended, with
    `replace` in place of others of its name; returns how many were published and refused.

    Ends when every planned cell has a result, or when the ccu that worked on the campaign has left
    it. Runs that were followed and have no end then, as their machine died, are taken out of the
    store. Raises StoreError when waiting does not help.
    """
    following = _Following(url, path, report, replace)
    try:
        while not following.is_over():
            following.look()
            time.sleep(_LOOK_EVERY_S)
    finally:
        following.stop()
    following.take_out_what_has_no_end()
    return following.published, following.refused


class _Following:
    """The runs of a campaign that were seen so far. One thread, that of `look`, changes it."""

    def __init__(self, url: str, path: Path, report: Report, replace: bool = False) -> None:
        self._url, self._path, self._report, self._replace = url, path, report, replace
        self._name, self._planned = record_campaign(url, path)
        self._live: dict[Path, _Follower] = {}
        self._publishing: dict[Path, Future[_Ended]] = {}
        self._done: set[Path] = set()
        self._with_result: set[str] = set()
        """Names of cells; they are not looked at again."""
        self._was_worked_on = False
        self._left = False
        self.published = self.refused = 0
        # A process of its own that yields to others: analysing a run takes seconds of CPU, and
        # other runs may go on in real time beside it.
        context = interpreter.safe(multiprocessing.get_context("spawn"))
        self._publisher = ProcessPoolExecutor(1, context, os.nice, (_NICENESS,))

    def is_over(self) -> bool:
        if self._publishing or any(read_manifest(run).status != "running" for run in self._live):
            return False
        return self._left or len(self._with_result) >= self._planned

    def look(self) -> None:
        """Follow new runs and publish ended ones. Raises StoreError."""
        # Asked before the directory is read, so that what was left behind is found in it.
        worked_on = is_worked_on(self._path)
        for run in self._new_runs():
            self._take_up(run)
        for run, follower in list(self._live.items()):
            if not follower.is_alive():
                del self._live[run]
                follower.raise_error()
                self._publish(run)
        for run, future in list(self._publishing.items()):
            if future.done():
                del self._publishing[run]
                self._ended(run, future.result())
        self._left = self._was_worked_on and not worked_on
        self._was_worked_on |= worked_on

    def stop(self) -> None:
        for follower in self._live.values():
            follower.stop.set()
        self._publisher.shutdown(cancel_futures=True)

    def take_out_what_has_no_end(self) -> None:
        """Remove this campaign's cells, also those that a worker showed and never finished."""
        cells = [entry.name for entry in (self._path / "runs").glob("*/")]
        with connected(self._url) as connection:
            connection.execute(
                "DELETE FROM testbed.run WHERE state = 'live' AND campaign = %s "
                "AND split_part(name, '/', 2) = ANY(%s)",
                [self._name, cells],
            )

    def _new_runs(self) -> list[Path]:
        folder = self._path / "runs"
        cells = [entry.name for entry in os.scandir(folder)] if folder.is_dir() else []
        waiting = [folder / name for name in cells if name not in self._with_result]
        known = self._live.keys() | self._publishing.keys() | self._done
        there = {file.parent for cell in waiting for file in cell.glob("*/run.json")}
        return sorted(there - known, key=lambda run: (run.name, run.parent.name))

    def _take_up(self, run: Path) -> None:
        try:
            running = read_manifest(run).status == "running"
        except RefusedError as error:
            self._done.add(run)
            self._report(str(error))
            return
        if running:
            self._live[run] = _Follower(self._url, run, self._report, self._replace)
            self._live[run].start()
        else:
            self._publish(run)

    def _publish(self, run: Path) -> None:
        self._publishing[run] = self._publisher.submit(_published, self._url, run, self._replace)

    def _ended(self, run: Path, ended: _Ended) -> None:
        outcome, said = ended
        if outcome == "away":
            self._report(f"trying again: {said}")
            self._publish(run)
            return
        self._done.add(run)
        self.published += outcome == "published"
        self.refused += outcome == "refused"
        if said:
            self._report(said)
        manifest = read_manifest(run)
        if manifest.status == "finished" and manifest.verdict in ("valid", "degraded"):
            self._with_result.add(run.parent.name)
        have = f"{len(self._with_result)} of {self._planned} cells have a result"
        self._report(f"{run.parent.name}: {manifest.verdict or manifest.status}; {have}")


class _Follower(threading.Thread):
    """A run that is published while it runs."""

    def __init__(self, url: str, run: Path, report: Report, replace: bool) -> None:
        super().__init__(name=f"follow {run.name}", daemon=True)
        self.stop = threading.Event()
        self._url, self._run, self._report, self._replace = url, run, report, replace
        self._error: RefusedError | None = None

    def run(self) -> None:
        try:
            follow(self._url, self._run, self._report, self._replace, self.stop)
        except RefusedError as error:
            self._error = error

    def raise_error(self) -> None:
        """Follow to the end; other errors are reported. Raises StoreError if waiting does not
        help."""
        if isinstance(self._error, StoreError):
            raise self._error
        if self._error is not None:
            self._report(str(self._error))


_Ended = tuple[Literal["published", "refused", "away"], str]


def _published(url: str, run: Path, replace: bool) -> _Ended:
    try:
        publish(url, run, replace)
    except StoreAway as error:
        time.sleep(_LOOK_EVERY_S)
        return "away", str(error)
    except RefusedError as error:
        return "refused", str(error)
    return "published", ""
