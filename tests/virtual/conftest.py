# SPDX-License-Identifier: Apache-2.0
"""Runs of `nr-link virtual`, each in a folder of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ccu.congestion import proofs, references
from testsupport.runs import Runs

PROGRAM = Path(sys.executable).parent / "nr-link"

LEVEL = {"ss_pbch_block_power_dbm": 0, "level": {"rsrp_dbm": -70}}
RADIO = {"radio": {**LEVEL, "noise": {"floor_dbm_per_re": -100}}}
CARRIER = {
    "carrier_ghz": 3.6,
    "numerology": 1,
    "prb": 24,
    "duplex": {"tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}},
}


def constant(dl_mbps: float, ul_mbps: float) -> dict[str, Any]:
    """A scenario of constant capacity."""
    rates = {"dl": dl_mbps, "ul": ul_mbps}
    return {"capacity": {way: {"constant_mbps": rate} for way, rate in rates.items()}}


@dataclass
class VirtualRun:
    """A run that has ended."""

    folder: Path
    result: subprocess.CompletedProcess[str]

    @property
    def account(self) -> dict[str, Any]:
        """What it printed."""
        assert self.result.returncode == 0, self.result.stderr
        account: dict[str, Any] = json.loads(self.result.stdout)
        return account

    def flow(self, number: int = 0) -> dict[str, Any]:
        """What it says of one flow."""
        by_id = {flow["id"]: flow for flow in self.account["flows"]}
        flow: dict[str, Any] = by_id[f"f{number}"]
        return flow

    def mac(self) -> list[dict[str, str]]:
        """The rows of mac.csv."""
        header, *rows = (self.folder / "mac.csv").read_text().splitlines()
        return [dict(zip(header.split(","), row.split(","), strict=True)) for row in rows]

    def digests(self, *but: str) -> dict[str, str]:
        """SHA-256 of captures, samples and reports, by name, without those named."""
        files = [*self.folder.glob("*.pcap"), *self.folder.glob("*.csv")]
        files += self.folder.glob("iperf3-*.json")
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.name not in but
        }


def prepare(
    folder: Path,
    plan: dict[str, Any],
    scenario: dict[str, Any] | None = None,
    ues: int = 1,
    **link: Any,
) -> Path:
    """The files of a run; JSON is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "schema": "rf-scenario/1",
        "name": "test",
        "summary": "For a test.",
        "sources": ["chosen"],
        "license": "Apache-2.0",
        "duration_s": 60,
        "at_end": "loop",
        **(scenario or constant(20, 10)),
    }
    (folder / "scenario.yaml").write_text(json.dumps(described))
    devices = [{"name": f"ue{ue}", "addresses": [f"10.45.0.{1 + ue}"]} for ue in range(1, ues + 1)]
    config = {
        "schema": "nr-link/1",
        "seed": 1,
        "mtu_bytes": 1500,
        "scenario": "scenario.yaml",
        "path": {way: {"delay_ms": 10} for way in ("dl", "ul")},
        "queue": {way: {"packets": 100} for way in ("dl", "ul")},
        "samples": {"interval_ms": 10},
        "devices": {"core": {"name": "n6"}, "ue": devices},
        "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
        **link,
    }
    (folder / "link.yaml").write_text(json.dumps(config))
    file = folder / "plan.yaml"
    file.write_text(json.dumps({"schema": "nr-link-virtual/1", "link": "link.yaml", **plan}))
    return file


def become(uid: int) -> list[str]:
    """The command that turns root into a user without groups."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def give(folder: Path, uid: int) -> None:
    """Make a folder a user's own, which that user can reach."""
    for path in (folder, *folder.parents):
        if path.owner() == "root" and path.is_relative_to("/tmp") and path != Path("/tmp"):
            path.chmod(0o755)
    os.chown(folder, uid, uid)


@pytest.fixture(scope="session")
def kernel() -> Path:
    """The kernel's path; skips where there is none."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built (make build)")
    found = subprocess.run([PROGRAM, "virtual", "doctor"], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip(found.stderr.strip())
    return Path(found.stdout.strip())


@pytest.fixture(scope="session")
def experiments(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Experiments of `ccu run` in virtual time, each made and analysed once."""
    return Runs(tmp_path_factory.mktemp("experiments"), "virtual")


@pytest.fixture
def virtual(kernel: Path, tmp_path: Path) -> Callable[..., VirtualRun]:
    """Runs a plan: `virtual(plan, name=…, scenario=…, before=[…], link keys …)`."""

    def run(
        plan: dict[str, Any], name: str = "run", before: tuple[str, ...] = (), **link: Any
    ) -> VirtualRun:
        file = prepare(tmp_path / name, plan, **link)
        result = subprocess.run(
            [*before, PROGRAM, "virtual", "run", file], capture_output=True, text=True, timeout=600
        )
        return VirtualRun(file.parent, result)

    return run


class Proofs:
    """Records which proofs of congestion controls passed with all their parameters."""

    def __init__(self) -> None:
        self.outcomes: dict[str, list[bool]] = {}
        self.incomplete: set[str] = set()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.incomplete |= {test_of(item.nodeid) for item in items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.incomplete.add(test_of(report.nodeid))
        elif report.when == "call" or report.failed:
            self.outcomes.setdefault(test_of(report.nodeid), []).append(report.passed)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        chosen = {test_of(argument) for argument in session.config.args if "[" in argument}
        stopped = session.shouldstop or session.shouldfail
        complete = references.declared_proofs() - self.incomplete - chosen
        found = {proof: all(self.outcomes[proof]) for proof in complete & self.outcomes.keys()}
        if found and not stopped:
            proofs.record(found)


def test_of(node: str) -> str:
    """The test of a node, without its parameters."""
    return node.partition("[")[0]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Proofs())
