# SPDX-License-Identifier: Apache-2.0
"""Plans of `nr-link virtual`, and what a run of one gave."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testsupport.prepared import BIN

PROGRAM = BIN / "nr-link"

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
        """The text that it printed."""
        assert self.result.returncode == 0, self.result.stderr
        account: dict[str, Any] = json.loads(self.result.stdout)
        return account

    def flow(self, number: int = 0) -> dict[str, Any]:
        """Return the report of one flow."""
        by_id = {flow["id"]: flow for flow in self.account["flows"]}
        flow: dict[str, Any] = by_id[f"f{number}"]
        return flow

    def mac(self) -> list[dict[str, str]]:
        """The rows of mac.csv."""
        header, *rows = (self.folder / "mac.csv").read_text().splitlines()
        return [dict(zip(header.split(","), row.split(","), strict=True)) for row in rows]

    def digests(self, *but: str) -> dict[str, str]:
        """SHA-256 of captures, samples and reports, by name, without those named."""
        assert self.result.returncode == 0, self.result.stderr
        files = [*self.folder.glob("*.pcap"), *self.folder.glob("*.csv")]
        files += self.folder.glob("flows.json")
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
