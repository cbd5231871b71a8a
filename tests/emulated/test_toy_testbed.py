# SPDX-License-Identifier: Apache-2.0
"""The toy of docs/extending.md: a testbed driver from another package."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.prepared import Started
from testsupport.waiting import until

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes network namespaces")
TOY = Path(__file__).parents[2] / "examples/testbed"


class Installed:
    """Our commands with the toy's package installed beside them."""

    def __init__(self, folder: Path) -> None:
        site = folder / "site"
        source = shutil.copytree(TOY, folder / "source")
        uv = Path(__file__).parents[2] / ".tools/uv/bin/uv"
        subprocess.run(
            [
                *(
                    uv,
                    "pip",
                    "install",
                    "--quiet",
                    "--offline",
                    "--no-deps",
                    "--no-build-isolation",
                ),
                *("--python", sys.executable, "--target", site, source),
            ],
            check=True,
        )
        self.environment = {"PYTHONPATH": str(site), "COLUMNS": "160"}

    def start(self, name: str, *args: object) -> Started:
        return Started(name, *args, environment=self.environment)

    def __call__(self, name: str, *args: object) -> str:
        """Return what the command prints. It has to succeed."""
        done = self.start(name, *args).result()
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refusal(self, *args: object) -> str:
        done = self.start("ccu", *args).result()
        assert done.returncode == 2, done.stderr
        return done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if not (Path(__file__).parents[2] / ".tools/uv/bin/uv").exists():
        pytest.skip("needs .tools/uv (make setup), which installs the toy's package")
    return Installed(tmp_path_factory.mktemp("toy"))


def test_its_name_and_options_are_listed(installed: Installed) -> None:
    assert "a cable between two network namespaces" in installed("ccu", "list", "testbeds")
    printed = installed("ccu", "run", "--help-all")
    assert "With --testbed toy" in printed
    assert "--cable-length-km" in printed
    assert "Length of the cable in km (default: 1.0)." in printed
    schema = json.loads(installed("ccu", "schema"))
    assert "toy" in schema["properties"]["testbed"]["enum"]
    assert schema["properties"]["cable_length_km"]["maximum"] == 10_000


@pytest.mark.parametrize(
    ("args", "printed"),
    [
        (
            ["--testbed", "toy", "--cable-length-km", "0"],
            "--cable-length-km: '0' is not more than 0",
        ),
        (["--testbed", "toy", "--prb", "24"], "--prb: a cable has no radio. Leave it out"),
        (["--testbed", "toy", "--ues", "2"], "--ues: a cable has one end"),
        (["--cable-length-km", "3"], "--cable-length-km: is for other testbeds. Add --testbed toy"),
    ],
)
def test_its_refusals(installed: Installed, args: list[str], printed: str) -> None:
    assert printed in installed.refusal("run", "--cc", "cubic", *args)


@pytest.mark.root
@needs_root
def test_a_run_to_its_tables(
    installed: Installed, tmp_path: Path, ours: Callable[[], set[str]]
) -> None:
    before = ours()
    file = tmp_path / "toy.yaml"
    file.write_text("testbed: toy\ncc: cubic\nduration: 2s\ncable_length_km: 2.5\n")
    installed(
        "ccu", "run", "--no-report", "--file", str(file), "--bidir", "--output", str(tmp_path)
    )
    (run,) = tmp_path.glob("*-toy")
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["verdict"] == "valid"
    assert manifest["experiment"]["testbed"] == "toy"
    assert manifest["experiment"]["toy"] == {"cable_length_km": 2.5}
    assert manifest["experiment"]["prb"] is None
    installed("ddu", "analyze", "--no-report", str(run))
    summary = json.loads((run / "summary.json").read_text())
    assert len(summary["flows"]) == 2
    assert all(flow["throughput_bps"] > 1e6 for flow in summary["flows"])
    planned = installed("ccu", "rerun", str(run), "--dry-run")
    assert "cable_length_km: 2.5" in planned
    assert ours() == before


@pytest.mark.root
@needs_root
def test_doctor(installed: Installed) -> None:
    words = ("doctor", "--testbed", "toy", "--cable-length-km", "7")
    done = installed.start("ccu", *words).result()
    assert "7 km" in done.stdout, done.stderr
    assert "for --testbed toy" in done.stdout


@pytest.mark.root
@needs_root
def test_the_resources_of_a_killed_toy_run_are_removed(
    installed: Installed, tmp_path: Path, ours: Callable[[], set[str]]
) -> None:
    before = ours()
    words = ("--testbed", "toy", "--cc", "cubic", "--duration", "60s", "--output", str(tmp_path))
    running = installed.start("ccu", "run", "--no-report", *words)
    until(lambda: list(tmp_path.glob("*/raw/iperf3-f0-client.json")), running)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert len(ours() - before) >= 2
    assert "removed network namespace" in installed("ccu", "clean")
    assert ours() == before
