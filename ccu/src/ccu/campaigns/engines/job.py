# SPDX-License-Identifier: Apache-2.0
"""The protocol of all engines: a job is a run to do, here or in a process of its own."""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from ccu.campaigns.analyst import Analyst
from ccu.campaigns.keeping import reduce
from ccu.host.child import Child
from ccu.runs import run as runs
from ccu.spec.errors import Interrupted, RunFailed
from ccu.spec.experiment import Experiment
from ddu.campaign.definition import Keep
from ddu.console.problems import RefusedError


@dataclass(frozen=True)
class Job:
    """A run to do."""

    experiment: Experiment
    output: Path
    """The cell's folder, in which the run directory is made."""
    keep: Keep


@dataclass(frozen=True)
class Stage:
    """The progress of a run."""

    stage: str
    ratio: float


@dataclass(frozen=True)
class Ended:
    """The end of a run; at most one of the reasons is given."""

    error: str | None = None
    """The reason why the run has no result."""
    warning: str | None = None
    """A warning about a run that has a result."""
    refusal: RefusedError | None = None
    """The reason why the machine cannot continue."""
    defect: str | None = None
    """The traceback of an exception that nobody expected."""


def perform(job: Job, report: runs.Listener, analyst: Analyst) -> Ended:
    """Do the run, and keep of it what the job says. Raises RefusedError and Interrupted."""
    try:
        run = runs.run(job.experiment, job.output, report)
    except (RunFailed, OSError) as failed:
        return Ended(error=str(failed))
    if job.keep != "raw":
        report("analysing", 1.0)
    return Ended(warning=reduce(run, job.keep, analyst))


class JobProcess(Child):
    """A process that does one job after another, and answers each with Stages and its Ended."""

    def __init__(self) -> None:
        super().__init__(_perform_each)

    def begin(self, job: Job) -> None:
        self.connection.send(job)

    def message(self) -> Stage | Ended:
        """Return the next message of the job; a process that is gone has ended its job."""
        try:
            message: Stage | Ended = self.connection.recv()
        except (EOFError, OSError):
            return Ended(error=f"its process {self.end()}")
        return message

    @property
    def usable(self) -> bool:
        """Return whether the process can do another job."""
        return not self.connection.closed


def _perform_each(connection: Connection) -> None:
    with Analyst() as analyst, suppress(EOFError, OSError):
        while True:
            connection.send(_ended(connection.recv(), connection, analyst))


def _ended(job: Job, connection: Connection, analyst: Analyst) -> Ended:
    def report(stage: str, ratio: float) -> None:
        with suppress(OSError):  # The campaign has ended, and this run is about to.
            connection.send(Stage(stage, ratio))

    try:
        return perform(job, report, analyst)
    except Interrupted as interrupted:
        return Ended(error=str(interrupted))
    except RefusedError as refused:
        return Ended(refusal=RefusedError(refused.problems))
    except Exception:
        return Ended(defect=traceback.format_exc())
