# SPDX-License-Identifier: Apache-2.0
"""run.json, as docs/run-directory.md defines it: whole at every instant from the start."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import psutil

from ccu import __version__, programs
from ccu.experiment import Experiment

SCHEMA_VERSION = 1


class Manifest:
    """What is known of the run so far; `write` puts it on disk atomically."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self._directory = directory
        self.content: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "run": directory.name,
            "status": "running",
            "failure": None,
            "experiment": {"cc": experiment.cc, **experiment.model_dump(mode="json")},
            "hosts": {},
            "flows": [],
            "captures": [],
            "sockets": [],
            "mac": None,
            "link": None,
            "link_summary": None,
            "cc_trace": None,
            "cc_implementation": {},
            # Both hosts of an emulated testbed share a kernel, and so its clock.
            "time": {"clock": "CLOCK_REALTIME", "offset_ns": 0, "offset_uncertainty_ns": 0},
            "software": software(),
            "machine": _machine(),
            "seeds": {"experiment": experiment.seed, "nr-link": experiment.seed},
            "verdict": None,
            "verdict_reasons": [],
        }

    def write(self, **changes: Any) -> None:
        self.content |= changes
        write_whole(self._directory / "run.json", self.content)


def write_whole(file: Path, content: dict[str, Any]) -> None:
    """Writes JSON so that a reader sees the old file or the new one, and nothing between."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, indent=2) + "\n")
    part.replace(file)


def mark_abandoned(directory: Path) -> None:
    """Says in run.json that its ccu was killed, if it still says that it runs."""
    file = directory / "run.json"
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return
    if content.get("status") == "running":
        reason = "ccu was killed; what it had made was removed later"
        content |= {"status": "failed", "failure": {"stage": "ccu", "reason": reason}}
        write_whole(file, content)


def hand_over(directory: Path) -> None:
    """Gives the run to who called sudo."""
    uid, gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() == 0 and uid.isdigit() and gid.isdigit():
        for path in (directory, *directory.rglob("*")):
            os.chown(path, int(uid), int(gid), follow_symlinks=False)


def software() -> dict[str, Any]:
    """Versions of all that makes a run, and the checkout that it comes from."""
    names = ("nr-link", "socket-sampler", "iperf3", "tcpdump")
    git = ["git", "-c", f"safe.directory={programs.REPOSITORY}", "-C", str(programs.REPOSITORY)]
    revision = _output([*git, "rev-parse", "HEAD"])
    return {
        "ccu": __version__,
        **{name: programs.version(name) for name in names},
        "kernel": platform.release(),
        "git_revision": revision,
        "git_modified": bool(_output([*git, "status", "--porcelain"])) if revision else None,
    }


def _output(command: list[str]) -> str | None:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() if said.returncode == 0 else None


def _machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
    }
