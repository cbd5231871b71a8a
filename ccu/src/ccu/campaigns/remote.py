# SPDX-License-Identifier: Apache-2.0
"""The work of a worker of `--engine dask`: one run, in a process of its own."""

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
"""The Dask resource that counts a worker's testbeds, and so its simultaneous runs."""


@dataclass(frozen=True)
class Job:
    """A run to do, and the place for its directory."""

    experiment: str
    """The experiment as JSON."""
    campaign: str
    """The campaign's name."""
    output: str
    """The cell's folder on the client's machine."""
    token: str
    """A file that the client made: a worker that sees it shares the client's storage."""
    software: str
    testbeds: dict[str, int]
    """The number of testbeds of the workers of each machine, by the machine's `machine()`."""


@dataclass(frozen=True)
class Done:
    """The result of a job; `archive` is a tar of the run directory unless it is in shared
    storage."""

    error: str | None
    archive: bytes | None


def software() -> str:
    """Return the version of this ccu, which must be the same at client and workers."""
    about = manifest.software()
    modified = ", modified" if about["git_modified"] else ""
    return f"ccu {__version__} at {about['git_revision']}{modified}"


def machine() -> str:
    """Return an identifier that all workers of a machine share, also in its containers."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def describe() -> dict[str, list[str] | str]:
    """Return the properties of this worker that the client asks for."""
    controls = sorted(congestion.available_later())
    return {"software": software(), "machine": machine(), "congestion_controls": controls}


def perform(job: Job) -> Done:
    """Run the job here. A failure of the run is not raised, but returned in `Done`."""
    if (ours := software()) != job.software:
        return Done(f"the worker has {ours}, the client {job.software}; update one of them", None)
    experiment = Experiment.model_validate_json(job.experiment)
    with slots.held(experiment.testbed.name, True, lambda _: None, job.testbeds.get(machine(), 1)):
        if Path(job.token).exists():
            return Done(_run(job.experiment, Path(job.output)), None)
        with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
            return _run_and_pack(job, Path(folder))


def _run_and_pack(job: Job, folder: Path) -> Done:
    # As in the campaign's directory, so that the store has the same name for the run.
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
    """Execute `ccu run` in a process that ends with the worker; return its error message, if
    any."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix="experiment-") as file:
        yaml.safe_dump(yaml.safe_load(experiment), file)
        file.flush()
        command = [sys.executable, "-m", "ccu", "run", "--file", file.name]
        completed = subprocess.run(
            [*command, "--output", str(output)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=processes.end_with_parent(),
        )
    return (
        None
        if completed.returncode == 0
        else completed.stderr.strip() or f"code {completed.returncode}"
    )
