# SPDX-License-Identifier: Apache-2.0
"""The jobs of the workers of `--engine dask`: one run each, in a process of its own."""

from __future__ import annotations

import io
import tarfile
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ccu import congestion
from ccu.campaigns import live as showing
from ccu.campaigns.engines.job import Ended, Job, JobProcess
from ccu.campaigns.folder import Folder
from ccu.host import slots
from ccu.runs import manifest
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.campaign.definition import Campaign
from ddu.console.ownership import make_directory
from ddu.console.problems import refusal
from ddu.installation import version

RESOURCE = "testbed"
"""The Dask resource that counts a worker's testbeds, and so its simultaneous runs in real time."""
CORE = "core"
"""The Dask resource that counts the cores of a worker's machine, a run in virtual time each."""
_PATIENCE_S = 180.0


@dataclass(frozen=True)
class RemoteJob:
    """A job for a worker, and what it has to know of its client."""

    job: Job
    """Its output is the cell's folder on the client's machine."""
    campaign: Campaign
    token: str
    """A file that the client made: a worker that sees it shares the client's storage."""
    software: str
    testbeds: dict[str, int]
    """The number of testbeds of the workers of each machine, by the machine's `machine()`."""
    taken: tuple[str, ...] = ()
    """The names of the runs that the job's folder has."""


@dataclass(frozen=True)
class Done:
    """The result of a job; `archive` is a tar of the run directory unless it is in shared
    storage."""

    ended: Ended
    archive: bytes | None = None


def software() -> str:
    """Return the version of this ccu, which must be the same at client and workers."""
    about = manifest.software()
    modified = ", modified" if about["git_modified"] else ""
    return f"ccu {version()} at {about['git_revision']}{modified}"


def machine() -> str:
    """Return an identifier that all workers of a machine share, also in its containers."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def describe() -> dict[str, list[str] | str]:
    """Return the properties of this worker that the client asks for."""
    controls = sorted(congestion.available_later())
    return {"software": software(), "machine": machine(), "congestion_controls": controls}


def perform(remote: RemoteJob) -> Done:
    """Do the job here. A failure of the run is not raised, but returned in `Done`."""
    if (ours := software()) != remote.software:
        rule = f"the worker has {ours}, the client {remote.software}"
        return Done(Ended(refusal=refusal(rule, "update one of them")))
    experiment = remote.job.experiment
    with ExitStack() as stack:
        driver = driver_of(experiment)
        if lock := driver.lock(experiment):
            count = 1 if driver.alone else remote.testbeds.get(machine(), 1)
            stack.enter_context(slots.held(lock, True, lambda _: None, count))
        if Path(remote.token).exists():
            return Done(_perform(remote.job))
        with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
            return _perform_and_pack(remote, Path(folder))


def _perform_and_pack(remote: RemoteJob, folder: Path) -> Done:
    # As in the campaign's directory, so that the store has the same name for the run.
    cell = folder / "runs" / remote.job.output.name
    cell.mkdir(parents=True)
    Folder.make(folder, remote.campaign)
    for name in remote.taken:
        make_directory(cell / name / "raw" / "logs")  # so that the new run gets another name
    with showing.shown_live(cell):
        ended = _perform(replace(remote.job, output=cell))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for run in cell.glob("*"):
            if run.name not in remote.taken:
                archive.add(run, arcname=run.name)
    return Done(ended, packed.getvalue())


def _perform(job: Job) -> Ended:
    """Do the job in a process of its own: only a process's first thread receives its signals. A run
    that does not end is ended."""
    most_s = _most_s(job.experiment)
    deadline_s = time.monotonic() + most_s
    process = JobProcess()
    try:
        process.begin(job)
        while process.connection.poll(max(0.0, deadline_s - time.monotonic())):
            if isinstance(message := process.message(), Ended):
                return message
        process.interrupt()
        return Ended(error=f"timed out on its worker after {most_s:.0f} s")
    finally:
        process.end()


def _most_s(experiment: Experiment) -> float:
    """Return how long a run may take once it has its turn on its testbed."""
    return max(experiment.duration_s, driver_of(experiment).expected_s(experiment)) + _PATIENCE_S
