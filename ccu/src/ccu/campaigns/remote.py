# SPDX-License-Identifier: Apache-2.0
"""The work of a worker of `--engine dask`: one run, in a process of its own."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import yaml

from ccu import __version__, congestion
from ccu.campaigns import live as showing
from ccu.campaigns import slots
from ccu.campaigns.analyst import Analyst
from ccu.campaigns.folder import SCHEMA_VERSION
from ccu.campaigns.keeping import Keep, reduce
from ccu.host import processes
from ccu.runs import manifest
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of

RESOURCE = "testbed"
"""The Dask resource that counts a worker's testbeds, and so its simultaneous runs in real time."""
CORE = "core"
"""The Dask resource that counts the cores of a worker's machine, a run in virtual time each."""


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
    keep: Keep = "raw"


@dataclass(frozen=True)
class Done:
    """The result of a job; `archive` is a tar of the run directory unless it is in shared
    storage."""

    error: str | None
    archive: bytes | None
    warning: str | None = None


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
    with ExitStack() as stack:
        if not driver_of(experiment).undisturbed:
            count = job.testbeds.get(machine(), 1)
            stack.enter_context(slots.held(experiment.testbed.name, True, lambda _: None, count))
        if Path(job.token).exists():
            error, warning = _run(job, Path(job.output))
            return Done(error, None, warning)
        with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
            return _run_and_pack(job, Path(folder))


def _run_and_pack(job: Job, folder: Path) -> Done:
    # As in the campaign's directory, so that the store has the same name for the run.
    cell = folder / "runs" / Path(job.output).name
    cell.mkdir(parents=True)
    about = {"schema_version": SCHEMA_VERSION, "campaign": {"name": job.campaign}}
    manifest.write_whole(folder / "campaign.json", about)
    with showing.shown_live(cell):
        error, warning = _run(job, cell)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for run in cell.glob("*"):
            archive.add(run, arcname=run.name)
    return Done(error, packed.getvalue(), warning)


def _run(job: Job, output: Path) -> tuple[str | None, str | None]:
    """Execute `ccu run` in a process that ends with the worker, and keep of the run what the job
    says; return its error message, or a warning, if any."""
    before = set(output.glob("*/run.json"))
    if error := _perform(job.experiment, output):
        return error, None
    warning = None
    with Analyst() as analyst:
        for file in set(output.glob("*/run.json")) - before:
            warning = reduce(file.parent, job.keep, analyst)
    return None, warning


def _perform(experiment: str, output: Path) -> str | None:
    """Execute `ccu run`; return its error message, if any."""
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
