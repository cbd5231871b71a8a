# SPDX-License-Identifier: Apache-2.0
"""The manifest of a run, run.json (docs/run-directory.md), a complete file at every instant."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import psutil
from pydantic import ValidationError

from ccu import congestion, scenarios, traffic
from ccu.host import programs
from ccu.runs.last_record import LastRecord
from ccu.scenarios import nr_link
from ccu.spec.changes import Change
from ccu.spec.experiment import Experiment
from ccu.spec.fields import CC
from ccu.spec.flow_plan import FlowPlan
from ccu.testbeds import driver_of
from ddu.console.problems import RefusedError, refusal
from ddu.installation import CHECKOUT, data, version
from ddu.run import durable
from ddu.run.integrity import described, regular_files
from ddu.run.manifest import SCHEMA_VERSION, read_content, write_json, write_manifest


class Manifest:
    """The content of run.json so far; `write` puts it on disk atomically."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self._directory = directory
        self._last = LastRecord(directory)
        self.content: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "run": directory.name,
            "status": "running",
            "failure": None,
            "experiment": experiment.record(),
            "hosts": {},
            "flows": [],
            "captures": [],
            "sockets": [],
            "mac": None,
            "link": None,
            "link_summary": None,
            "cc_traces": [],
            "cc_implementation": {},
            # Hosts that share a kernel share its clock; otherwise the testbed corrects the value.
            "time": {"clock": "CLOCK_REALTIME", "offset_ns": 0, "offset_uncertainty_ns": 0},
            "software": software_of(experiment),
            "machine": _machine(),
            "seeds": {"experiment": experiment.seed, "nr-link": experiment.seed},
            "verdict": None,
            "verdict_reasons": [],
        }

    def begin(self, **changes: Any) -> None:
        """Write the first run.json, and reserve space for the last."""
        self._last.reserve()
        self.write(**changes)

    def write(self, **changes: Any) -> None:
        """Write the changes. Raises RefusedError for some that no analysis could read."""
        content = self.content | changes
        write_manifest(self._directory, content)
        self.content = content

    def finish(self, **changes: Any) -> None:
        """Write the last changes, and the digests of the raw data, which are complete."""
        durable.sync_tree(self._directory / "raw")
        raw = regular_files(self._directory / "raw")
        write_manifest(self._directory, self.content | changes, described(self._directory, raw))
        self._last.release()

    def fail(self, **changes: Any) -> None:
        """Write why there is no result, in the reserved space if the disk is full."""
        try:
            self.write(**changes)
            self._last.release()
        except OSError:
            with suppress(OSError):  # Another ccu marks the run later (UnfinishedRun).
                self._last.write(self.content | changes)


def experiment_of(run: Path) -> Experiment:
    """Return the experiment of run.json, with the files that it names as they were then.

    Raises RefusedError.
    """
    file, written = run / "run.json", read_content(run).get("experiment")
    if not isinstance(written, dict):
        raise refusal("has no experiment", "restore it", file=file)
    try:
        experiment = Experiment.from_record(written)
    except ValidationError as error:
        raise refusal(
            str(error.errors()[0]["msg"]), "use the ccu that made it", file=file
        ) from None
    return experiment.model_copy(
        update={
            "scenario": _as_played(experiment, run),
            "flows": tuple(_as_recorded(plan, run) for plan in experiment.flows),
            "changes": tuple(_change_as_recorded(one, run) for one in experiment.changes),
            "cc_params": _as_kept(experiment, run.resolve() / "raw"),
        }
    )


def _as_recorded(plan: FlowPlan, run: Path) -> FlowPlan:
    """Return the flow with its congestion control's source as the run kept it."""
    if plan.cc_file is None:
        return plan
    kept = congestion.kept_source(run.resolve() / "raw", plan.cc, plan.cc_file)
    return plan.model_copy(update={"cc_file": str(kept)}) if kept.is_file() else plan


def _change_as_recorded(change: Change, run: Path) -> Change:
    """Return the change with its congestion control's source as the run kept it."""
    if change.key != CC.key:
        return change
    value = change.value if isinstance(change.value, Mapping) else {"cc": str(change.value)}
    plan = _as_recorded(FlowPlan(**value), run)
    if plan.cc_file is None:
        return change
    return change.model_copy(update={"value": {"cc": plan.cc, "cc_file": plan.cc_file}})


def _as_kept(experiment: Experiment, raw: Path) -> dict[str, str]:
    """Return the parameters, those that are files as the run kept them."""
    parameters = dict(experiment.cc_params)
    for name in {plan.cc for plan in experiment.flows}:
        for key, value in experiment.cc_params_of(name).items():
            kept = congestion.kept_parameter(raw, name, key, value)
            if "/" in value and kept.is_file():
                own = f"{name}.{key}"
                parameters[own if own in parameters else key] = str(kept)
    return parameters


def _as_played(experiment: Experiment, run: Path) -> str:
    """Return the scenario's name if its files are unchanged since the run, else the run's own copy,
    numbered as the name was."""
    scenario, played = experiment.scenario, run / "raw" / "scenario.yaml"
    try:
        same = _same_files(scenarios.locate(scenario, experiment.seed), played)
    except (RefusedError, OSError):
        same = False
    if same or not played.exists():
        return scenario
    seed = scenarios.seed_of(scenario)
    if seed is None or "seed" in nr_link.scenario(played):  # Older runs wrote it into the copy.
        return str(played)
    return str(played.with_stem(f"scenario-{seed:02}"))


def _same_files(scenario: Path, played: Path) -> bool:
    """Return whether two scenarios, and the files that they name, have the same bytes. Raises
    OSError."""
    if scenario.read_bytes() != played.read_bytes():
        return False
    return all(
        (scenario.parent / name).read_bytes() == (played.parent / name).read_bytes()
        for name in nr_link.scenario(played)["files"]
    )


@dataclass(frozen=True)
class UnfinishedRun:
    """A run whose run.json says `running`, which is false once its ccu has ended."""

    kind: ClassVar[str] = "unfinished-run"
    directory: str

    def remove(self) -> list[str]:
        """Mark the run as failed in its run.json, and remove what was to become one."""
        file = Path(self.directory, "run.json")
        last = LastRecord(file.parent)
        try:
            content = json.loads(file.read_text())
        except (OSError, ValueError):
            content = {}
        running = content.get("status") == "running"
        if running:
            reason = "ccu was killed; its resources were removed later"
            content |= {"status": "failed", "failure": {"stage": "ccu", "reason": reason}}
            try:
                write_json(file, content)
            except OSError:
                last.write(content)
        last.release()
        durable.discard_part(file)
        return [f"marked {self.directory} as failed"] if running else []


def software_of(experiment: Experiment) -> dict[str, Any]:
    """Return `software`, and the versions of what its testbed alone has."""
    return software() | driver_of(experiment).software()


def software() -> dict[str, Any]:
    """Return the versions of all programs of a run, and the revision of this one's source."""
    names = ("nr-link", "socket-sampler", *traffic.every_program(), "tcpdump")
    return {
        "ccu": version(),
        **{name: programs.version(name) for name in names},
        "kernel": platform.release(),
        **_revision(),
    }


def _revision() -> dict[str, Any]:
    """Return the revision of the checkout, or the one that the installed package was built from."""
    if CHECKOUT is None:
        kept = data("ccu", "revision.json")
        return dict(json.loads(kept.read_bytes())) if kept.exists() else _revision_of(None, None)
    git = ["git", "--no-optional-locks", "-c", f"safe.directory={CHECKOUT}", "-C", str(CHECKOUT)]
    revision = _output([*git, "rev-parse", "HEAD"])
    return _revision_of(revision, _output([*git, "status", "--porcelain"]) if revision else None)


def _revision_of(revision: str | None, status: str | None) -> dict[str, Any]:
    return {"git_revision": revision, "git_modified": None if status is None else bool(status)}


def _output(command: list[str]) -> str | None:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return completed.stdout.strip() if completed.returncode == 0 else None


def _machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
    }
