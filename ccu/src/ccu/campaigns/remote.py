# SPDX-License-Identifier: Apache-2.0
"""What a worker of `--engine dask` does: one run, in a process of its own."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

from ccu import __version__, congestion
from ccu.campaigns import live as showing
from ccu.campaigns import slots
from ccu.campaigns.folder import SCHEMA_VERSION
from ccu.host import processes
from ccu.runs import manifest
from ccu.spec.experiment import Experiment

RESOURCE = "testbed"
"""Dask's resource: how many testbeds a worker holds, and so how many runs it does at a time."""


@dataclass(frozen=True)
class Job:
    """A run to do, and where its directory goes."""

    experiment: str
    """As JSON."""
    campaign: str
    """Its name."""
    output: str
    """The cell's folder on the client's machine."""
    token: str
    """A file that the client made: who sees it shares the client's storage."""
    software: str
    testbeds: dict[str, int]
    """How many testbeds the workers of each machine hold, by the machine's `machine()`."""


@dataclass(frozen=True)
class Done:
    """How it ended; `archive` is a tar of the run directory unless it is in shared storage."""

    error: str | None
    archive: bytes | None


def software() -> str:
    """Which ccu this is: client and workers have to agree."""
    about = manifest.software()
    modified = ", modified" if about["git_modified"] else ""
    return f"ccu {__version__} at {about['git_revision']}{modified}"


def machine() -> str:
    """The same for all workers of one machine, also in containers and namespaces of it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def describe() -> dict[str, list[str] | str]:
    """What the client wants to know of a worker."""
    controls = sorted(congestion.available_later())
    return {"software": software(), "machine": machine(), "congestion_controls": controls}


def perform(job: Job) -> Done:
    """Runs it here. Raises nothing that is the run's own: it says it in `Done`."""
    if (ours := software()) != job.software:
        return Done(f"the worker has {ours}, the client {job.software}; update one of them", None)
    experiment = Experiment.model_validate_json(job.experiment)
    with slots.held(experiment.testbed.name, True, lambda _: None, job.testbeds.get(machine(), 1)):
        if Path(job.token).exists():
            return Done(_run(job.experiment, Path(job.output)), None)
        with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
            return _run_and_pack(job, Path(folder))


def _run_and_pack(job: Job, folder: Path) -> Done:
    # As in the campaign's directory, so that the store calls the run by the same name here.
    cell = folder / "runs" / Path(job.output).name
    cell.mkdir(parents=True)
    about = {"schema_version": SCHEMA_VERSION, "campaign": {"name": job.campaign}}
    manifest.write_whole(folder / "campaign.json", about)
    with showing.shown_live(cell):
        error = _run(job.experiment, cell)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for run in cell.glob("*"):
            archive.add(run, arcname=run.name)
    return Done(error, packed.getvalue())


def _run(experiment: str, output: Path) -> str | None:
    """`ccu run` in a process of its own, which ends with the worker; what it says when it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix="experiment-") as file:
        yaml.safe_dump(yaml.safe_load(experiment), file)
        file.flush()
        command = [sys.executable, "-m", "ccu", "run", "--file", file.name]
        said = subprocess.run(
            [*command, "--output", str(output)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=processes.dying_with_us(),
        )
    return None if said.returncode == 0 else said.stderr.strip() or f"code {said.returncode}"
