# SPDX-License-Identifier: Apache-2.0
"""Runs on this machine, several at a time: for testbeds that nothing disturbs.

Each process does one run after another. A process that is killed loses its run only; when the
campaign's own process ends, however it does, the kernel ends the others.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path

from ccu import congestion
from ccu.campaigns.analyst import Analyst
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener, Outcome
from ccu.campaigns.folder import Folder
from ccu.campaigns.keeping import Keep, reduce
from ccu.host import processes, resources
from ccu.host.interruption import interruptible
from ccu.runs import run as runs
from ccu.spec.errors import Interrupted, RunFailed
from ccu.spec.experiment import Experiment
from ddu.console.problems import RefusedError

_POLL_S = 0.2
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class _Job:
    """A run to do."""

    experiment: Experiment
    output: Path
    keep: Keep


@dataclass(frozen=True)
class _Stage:
    """How far a run is."""

    stage: str
    ratio: float


@dataclass(frozen=True)
class _Ended:
    """The end of a run; at most one of the reasons is given."""

    error: str | None = None
    """Why the run has no result."""
    warning: str | None = None
    refusal: RefusedError | None = None
    """Why the machine cannot continue."""
    defect: str | None = None
    """The traceback of an exception that nobody expected."""


class Parallel:
    """See `ccu.campaigns.engines.Engine`."""

    def __init__(self, folder: Folder, jobs: int) -> None:
        self._folder = folder
        self._jobs = jobs
        self._interrupted_by: str | None = None

    def congestion_controls(self) -> set[str]:
        return congestion.available_later()

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Generator[Outcome, None, None]:
        with ExitStack() as stack:
            stack.enter_context(interruptible(partial(setattr, self, "_interrupted_by")))
            crew = _Crew(self._jobs)
            stack.callback(crew.end)
            while True:
                while crew.idle and (cell := next(cells, None)):
                    listener.started(cell)
                    output = self._folder.prepare(cell)
                    crew.give(cell, _Job(cell.experiment, output, self._folder.campaign.keep))
                if not crew.running:
                    return
                for cell, message in crew.messages():
                    if isinstance(message, _Stage):
                        listener.stage(cell, message.stage, message.ratio)
                    else:
                        yield _outcome(cell, message)
                if self._interrupted_by:
                    raise Interrupted(f"interrupted by {self._interrupted_by}")


def _outcome(cell: Cell, ended: _Ended) -> Outcome:
    if ended.refusal:
        raise ended.refusal
    if ended.defect:
        raise RuntimeError(f"{cell.title}:\n{ended.defect}")
    return Outcome(cell, ended.error, ended.warning)


class _Crew:
    """The processes, at most `count`, each idle or with the run of a cell."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._idle: list[_Worker] = []
        self.running: dict[_Worker, Cell] = {}

    @property
    def idle(self) -> bool:
        """Return whether another run can begin."""
        return len(self.running) < self._count

    def give(self, cell: Cell, job: _Job) -> None:
        worker = self._idle.pop() if self._idle else _Worker()
        self.running[worker] = cell
        worker.connection.send(job)

    def messages(self) -> Iterator[tuple[Cell, _Stage | _Ended]]:
        """Yield what the processes say within a moment."""
        workers = {worker.connection: worker for worker in self.running}
        for connection in wait(list(workers), _POLL_S):
            worker = workers[connection]  # type: ignore[index]
            cell = self.running[worker]
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                message = _Ended(f"its process ended with code {worker.end()}")
                resources.clean()
                del self.running[worker]
                yield cell, message
                continue
            if isinstance(message, _Ended):
                del self.running[worker]
                self._idle.append(worker)
            yield cell, message

    def end(self) -> None:
        """End all processes; a run in progress is ended in order, as by Ctrl-C."""
        for worker in self.running:
            worker.interrupt()
        for worker in [*self._idle, *self.running]:
            worker.end()
        self._idle.clear()
        self.running.clear()


class _Worker:
    """A process that does runs."""

    def __init__(self) -> None:
        context = get_context("spawn")  # Not a fork: the display has a thread.
        self.connection, inside = context.Pipe()
        self._process = context.Process(target=_work, args=(inside, os.getpid()), daemon=True)
        # Until the process has a session of its own, Ctrl-C would reach it as well.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        inside.close()

    def interrupt(self) -> None:
        self._process.terminate()

    def end(self) -> int | None:
        """Let the process end, by SIGKILL if it does not; return its exit code."""
        self.connection.close()
        self._process.join(_PATIENCE_S)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        return self._process.exitcode


def _work(connection: Connection, parent: int) -> None:
    """Do the runs that come, until the connection is closed."""
    os.setsid()
    processes.end_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with Analyst() as analyst, suppress(EOFError, OSError):
        while True:
            connection.send(_ended(connection.recv(), connection, analyst))


def _ended(job: _Job, connection: Connection, analyst: Analyst) -> _Ended:
    def report(stage: str, ratio: float) -> None:
        with suppress(OSError):  # The campaign has ended, and this run is about to.
            connection.send(_Stage(stage, ratio))

    try:
        run = runs.run(job.experiment, job.output, report)
        if job.keep != "raw":
            report("analysing", 1.0)
        return _Ended(warning=reduce(run, job.keep, analyst))
    except (RunFailed, Interrupted) as failed:
        return _Ended(error=str(failed))
    except RefusedError as refused:
        return _Ended(refusal=RefusedError(refused.problems))
    except Exception:
        return _Ended(defect=traceback.format_exc())
