# SPDX-License-Identifier: Apache-2.0
"""A kind of traffic from another package (docs/extending.md) runs in virtual time."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from testsupport import pulse
from testsupport.example_package import ccu


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    return pulse.installed(tmp_path / "packages")


def test_it_runs_to_its_tables(kernel: Path, packages: Path, tmp_path: Path) -> None:
    pulse.check_run(packages, tmp_path / "runs", "virtual")


def test_two_runs_are_the_same_to_the_byte(kernel: Path, packages: Path, tmp_path: Path) -> None:
    digests = set()
    for name in ("first", "second"):
        words = ("--traffic", "pulse", "--duration", "2s", "--output", tmp_path / name)
        ended = ccu(packages, "run", "--no-report", "--testbed", "virtual", *words)
        assert ended.returncode == 0, ended.stderr
        (capture,) = (tmp_path / name).glob("*/raw/receiver.pcap")
        digests.add(hashlib.sha256(capture.read_bytes()).hexdigest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--traffic", "pulse:fast"], "--traffic: 'fast' is not a number of datagrams per second"),
        (["--traffic", "pulse:0"], "--traffic"),
        (["--traffic", "puls"], "no kind of traffic 'puls'. Did you mean pulse?"),
        (["--traffic", "pulse", "--cc", "cubic"], "--cc: the traffic has no such congestion"),
        (
            ["--traffic", "pulse", "--testbed", "phone"],
            "--traffic: a phone's traffic is TCP",
        ),
        (["--flows", "tcp:1MB@0"], "names no congestion control"),
        (["--flows", "pulse:9@0", "--traffic", "tcp:1MB"], "makes its own traffic"),
    ],
)
def test_refusals(packages: Path, words: list[str], problem: str) -> None:
    ended = ccu(packages, "run", "--no-report", *words, "--dry-run")
    assert ended.returncode == 2
    assert problem in ended.stderr


def test_it_is_listed_with_the_others(packages: Path) -> None:
    printed = ccu(packages, "list", "traffic").stdout
    assert "small datagrams at a fixed rate" in printed
    schema = ccu(packages, "schema").stdout
    assert '"per_second"' in schema
