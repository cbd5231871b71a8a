# SPDX-License-Identifier: Apache-2.0
"""Runs on this machine, several at a time: for testbeds that nothing disturbs.

Each process does one run after another. A process that is killed loses its run only; when the
campaign's own process ends, however it does, the kernel ends the others.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import wait

from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener, Outcome
from ccu.campaigns.engines.job import Ended, Job, JobProcess, Stage
from ccu.campaigns.folder import Folder
from ccu.host import resources
from ccu.host.interruption import interruptible
from ccu.spec.errors import Interrupted

_POLL_S = 0.2


class Parallel:
    """See `ccu.campaigns.engines.Engine`."""

    def __init__(self, folder: Folder, jobs: int) -> None:
        self._folder = folder
        self._jobs = jobs
        self._interrupted_by: str | None = None

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Generator[Outcome, None, None]:
        with ExitStack() as stack:
            stack.enter_context(interruptible(partial(setattr, self, "_interrupted_by")))
            crew = _Crew(self._jobs)
            stack.callback(crew.end)
            while True:
                while crew.idle and (cell := next(cells, None)):
                    listener.started(cell)
                    output = self._folder.prepare(cell)
                    crew.give(cell, Job(cell.experiment, output, self._folder.campaign.keep))
                if not crew.running:
                    return
                for cell, message in crew.messages():
                    if isinstance(message, Stage):
                        listener.stage(cell, message.stage, message.ratio)
                    else:
                        yield _outcome(cell, message)
                if self._interrupted_by:
                    raise Interrupted(f"interrupted by {self._interrupted_by}")


def _outcome(cell: Cell, ended: Ended) -> Outcome:
    if ended.refusal:
        raise ended.refusal
    if ended.defect:
        raise RuntimeError(f"{cell.title}:\n{ended.defect}")
    return Outcome(cell, ended.error, ended.warning)


class _Crew:
    """The processes, at most `count`, each idle or with the run of a cell."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._idle: list[JobProcess] = []
        self.running: dict[JobProcess, Cell] = {}

    @property
    def idle(self) -> bool:
        """Return whether another run can begin."""
        return len(self.running) < self._count

    def give(self, cell: Cell, job: Job) -> None:
        worker = self._idle.pop() if self._idle else JobProcess()
        self.running[worker] = cell
        worker.begin(job)

    def messages(self) -> Iterator[tuple[Cell, Stage | Ended]]:
        """Yield what the processes say within a moment."""
        workers = {worker.connection: worker for worker in self.running}
        for connection in wait(list(workers), _POLL_S):
            worker = workers[connection]  # type: ignore[index]
            cell = self.running[worker]
            message = worker.message()
            if isinstance(message, Ended):
                del self.running[worker]
                if worker.usable:
                    self._idle.append(worker)
                else:
                    resources.clean()
            yield cell, message

    def end(self) -> None:
        """End all processes; a run in progress is ended in order, as by Ctrl-C."""
        for worker in self.running:
            worker.interrupt()
        for worker in [*self._idle, *self.running]:
            worker.end()
        self._idle.clear()
        self.running.clear()
