# SPDX-License-Identifier: Apache-2.0
"""Runs on many machines, by dask.distributed: each worker reports how many testbeds it has.

Dask assigns the runs of a lost worker to another. A run that a worker refuses goes to those that
have not. A run that does not end is ended by its worker, which knows when its turn began, and the
campaign's next pass tries it again.
"""

from __future__ import annotations

import io
import secrets
import shutil
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Client, Future, wait
from distributed.client import FuturesCancelledError
from distributed.comm.core import CommClosedError

from ccu.campaigns.cells import Cell, cells
from ccu.campaigns.engines import Listener, Outcome, remote
from ccu.campaigns.engines.job import Job
from ccu.campaigns.folder import Folder
from ccu.testbeds import driver_of
from ddu.campaign import cluster
from ddu.console.ownership import give_to_sudo_user
from ddu.console.problems import refusal

_POLL_S = 1.0
_PATIENCE_S = 30.0
"""The time in which a worker that is started again comes back."""


@contextmanager
def connected(address: str, tls: Path | None, folder: Folder) -> Iterator[Dask]:
    """Yield the engine, connected to the scheduler at `address`. Raises RefusedError."""
    client = cluster.connect(address, tls)
    token = folder.path / f".shared-{secrets.token_hex(8)}"
    token.touch()
    try:
        with client:
            engine = Dask(client, folder, token)
            engine.refuse_strangers()
            yield engine
    finally:
        token.unlink(missing_ok=True)


class Dask:
    """See `ccu.campaigns.engines.Engine`."""

    def __init__(self, client: Client, folder: Folder, token: Path) -> None:
        self._client = client
        self._folder = folder
        self._token = token
        self._software = remote.software()
        self._machines: dict[str, str] = {}
        """The machine of each worker, as of the last query."""
        self._refused_by: defaultdict[Cell, set[str]] = defaultdict(set)
        """The workers that refused a cell in this pass."""
        undisturbed = all(driver_of(one.of_point).undisturbed for one in cells(folder.campaign))
        self._resource = remote.CORE if undisturbed else remote.RESOURCE
        """The resources that a run of the campaign takes of its worker."""

    def refuse_strangers(self) -> None:
        """Raise RefusedError unless a worker has a testbed, and all have this software."""
        if not self._testbeds():
            raise refusal(
                f"no worker has a {self._resource}",
                "start `ccu worker` on each machine (docs/scaling.md)",
                key="--scheduler",
            )
        for address, worker in self._described().items():
            if worker["software"] != self._software:
                raise refusal(
                    f"worker {address} has {worker['software']}, this is {self._software}",
                    "update one of them",
                )

    def congestion_controls(self) -> set[str]:
        available = [set(one["congestion_controls"]) for one in self._described().values()]
        return set.intersection(*available) if available else set()

    def at_once(self) -> int:
        """Return how many runs all workers do at a time."""
        return max(1, sum(self._testbeds().values()))

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Generator[Outcome, None, None]:
        running: dict[Future[remote.Done], Cell] = {}
        try:
            yield from self._attempts(cells, running, listener)
        except (FuturesCancelledError, CommClosedError) as error:
            rule, fix = f"the scheduler is gone ({error})", "start it, and resume the campaign"
            raise refusal(rule, fix, key="--scheduler") from None
        finally:
            for future in running:
                with suppress(CommClosedError):
                    future.cancel()

    def _attempts(
        self, cells: Iterator[Cell], running: dict[Future[remote.Done], Cell], listener: Listener
    ) -> Iterator[Outcome]:
        seen_s = time.monotonic()
        while True:
            while len(running) < sum(self._testbeds().values()) and (cell := next(cells, None)):
                listener.started(cell)
                running[self._submit(cell, ())] = cell
            if self._testbeds():
                seen_s = time.monotonic()
            elif not running or time.monotonic() - seen_s > _PATIENCE_S:
                raise refusal(
                    "no worker with a testbed is left", "start one, and resume the campaign"
                )
            if not running:
                return
            yield from self._ended(running, listener)

    def _submit(self, cell: Cell, workers: Collection[str]) -> Future[remote.Done]:
        """Submit the cell to one of the workers; to any without."""
        campaign, output = self._folder.campaign, self._folder.prepare(cell).resolve()
        job = remote.RemoteJob(
            Job(cell.experiment, output, campaign.keep),
            taken=tuple(one.name for one in output.iterdir() if one.is_dir()),
            campaign=campaign,
            token=str(self._token.resolve()),
            software=self._software,
            testbeds=self._testbeds_of_machines(),
        )
        return self._client.submit(
            remote.perform, job, resources={self._resource: 1}, pure=False, key=_key(cell),
            workers=list(workers) or None,
        )  # fmt: skip

    def _ended(
        self, running: dict[Future[remote.Done], Cell], listener: Listener
    ) -> Iterator[Outcome]:
        with suppress(TimeoutError):
            wait(list(running), timeout=_POLL_S, return_when="FIRST_COMPLETED")
        for future, cell in list(running.items()):
            if not future.done():
                listener.stage(cell, str(future.status), 0.0)
                continue
            del running[future]
            # Once: without shared storage it has the run's archive.
            done = future.result() if future.status == "finished" else None
            if done and (others := self._others(cell, future, done)):
                running[self._submit(cell, others)] = cell
                continue
            self._refused_by.pop(cell, None)
            yield self._outcome(cell, done) if done else _lost(cell, future)

    def _others(self, cell: Cell, future: Future[remote.Done], done: remote.Done) -> set[str]:
        """Return the workers that have not refused a cell which this one has: what one machine
        cannot do another may."""
        if not done.ended.refusal:
            return set()
        for refused_by in self._client.who_has([future]).values():
            self._refused_by[cell].update(refused_by)
        return self._testbeds().keys() - self._refused_by[cell]

    def _outcome(self, cell: Cell, done: remote.Done) -> Outcome:
        if done.archive is not None:
            _unpack(done.archive, self._folder.cell(cell))
        ended = done.ended
        refused = str(ended.refusal) if ended.refusal else None
        return Outcome(cell, ended.error or refused or ended.defect, ended.warning)

    def _testbeds(self) -> dict[str, int]:
        """Return how many runs of this campaign each worker does at a time."""
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        counts = {name: one["resources"].get(self._resource, 0) for name, one in workers.items()}
        return {name: int(count) for name, count in counts.items() if count}

    def _testbeds_of_machines(self) -> dict[str, int]:
        """Return how many testbeds each machine has: several workers may be on one."""
        testbeds = self._testbeds()
        if testbeds.keys() != self._machines.keys():
            self._machines = {name: one["machine"] for name, one in self._described().items()}
        counts: Counter[str] = Counter()
        for worker, count in testbeds.items():
            counts[self._machines.get(worker, worker)] += count
        return dict(counts)

    def _described(self) -> dict[str, Any]:
        workers = list(self._testbeds())
        if not workers:
            return {}
        # A worker that is about to end does not answer.
        return dict(self._client.run(remote.describe, workers=workers, on_error="ignore"))


def _lost(cell: Cell, future: Future[remote.Done]) -> Outcome:
    return Outcome(cell, f"dask: {future.exception()}")


def _key(cell: Cell) -> str:
    """Return a new key for the cell, which Dask shows; each submission has its own."""
    return f"{cell.slug}-{secrets.token_hex(4)}"


def _unpack(archive: bytes, cell: Path) -> None:
    """Put the run directories in place, each complete or not at all."""
    incoming = cell / f".incoming-{secrets.token_hex(4)}"
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(incoming, filter="data")
        for run in incoming.glob("*"):
            run.rename(cell / run.name)
            give_to_sudo_user(cell / run.name)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
