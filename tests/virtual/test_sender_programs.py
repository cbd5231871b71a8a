# SPDX-License-Identifier: Apache-2.0
"""Sender programs of the user's own in virtual time."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ddu.api import analyze
from testsupport.prepared import command

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/udp_aimd.py"
LASTS_S = 2
SHORT = ("--prb", "24", "--scenario", "static", "--duration", f"{LASTS_S}s")
PAYLOAD_BYTES = 1200


def ccu(*arguments: object) -> subprocess.CompletedProcess[str]:
    return command("ccu", *arguments)


def run(output: Path, *arguments: object) -> Path:
    said = ccu("run", "--no-report", "--testbed", "virtual", *arguments, *SHORT, "--output", output)
    assert said.returncode == 0, said.stderr
    (path,) = output.iterdir()
    return path


def wrapper(folder: Path, body: str) -> str:
    """A wrapper whose sender does `body`."""
    file = folder / "mine"
    file.write_text(f"#!/bin/sh\nif [ $1 = receiver ]; then exec {EXAMPLE} $*; fi\n{body}\n")
    file.chmod(0o755)
    return f"program:{file}"


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_a_program_is_captured_and_analysed_as_any_flow(
    kernel: Path, tmp_path: Path, direction: str
) -> None:
    path = run(tmp_path / "runs", "--cc", f"program:{EXAMPLE}", direction)
    content = json.loads((path / "run.json").read_text())
    assert content["verdict"] == "valid"
    assert content["cc_implementation"]["udp_aimd"]["kind"] == "program"
    (flow,) = content["flows"]
    analyze(path, report=False)
    with (path / "tables/flows.csv").open() as file:
        rows = {row["capture_host"]: row for row in csv.DictReader(file) if row["role"] == "data"}
    sent, received = rows[flow["sender"]["host"]], rows[flow["receiver"]["host"]]
    assert (received["protocol"], received["cc"]) == ("udp", "udp_aimd")
    lasted_s = (int(sent["last_utc_ns"]) - int(sent["first_utc_ns"])) / 1e9
    assert lasted_s == pytest.approx(LASTS_S, abs=0.1)
    # From 1 Mbit/s, half a Mbit/s more each 50 ms: the buffer loses nothing so early.
    sent_bytes = int(sent["sent_payload_bytes"])
    assert sent_bytes * 8 / lasted_s == pytest.approx(1e6 + 10e6 * LASTS_S / 2, rel=0.05)
    received_bytes = int(received["received_payload_bytes"])
    assert received_bytes == flow["received_bytes"] <= sent_bytes
    assert received_bytes % PAYLOAD_BYTES == 0


def test_a_program_shares_the_link_with_tcp(kernel: Path, tmp_path: Path) -> None:
    path = run(tmp_path / "runs", "--flows", f"cubic@0,program:{EXAMPLE}@1")
    flows = json.loads((path / "run.json").read_text())["flows"]
    assert [(one["cc"], one["cc_read_back"]) for one in flows] == [
        ("cubic", "cubic"),
        ("udp_aimd", None),
    ]


def test_the_same_program_sends_the_same_bytes(kernel: Path, tmp_path: Path) -> None:
    path = run(tmp_path / "first", "--cc", f"program:{EXAMPLE}")
    said = ccu("rerun", path, "--output", tmp_path / "second")
    assert said.returncode == 0, said.stderr + said.stdout
    assert "identical to" in said.stdout


def test_a_program_hears_its_addresses_and_the_end_of_its_time(
    kernel: Path, tmp_path: Path
) -> None:
    """A child that does not hear SIGTERM is killed with it: else the run would not end."""
    body = (
        "trap 'echo ended by SIGTERM' TERM; echo $* $CCU_LOCAL_ADDRESS $CCU_REMOTE_ADDRESS\n"
        f"(trap '' TERM; exec {sys.executable} {EXAMPLE} $*) &\nwait\nwait"
    )
    path = run(tmp_path / "runs", "--cc", wrapper(tmp_path, body))
    log = (path / "raw/logs/program-f0-sender.log").read_text()
    assert log.splitlines() == ["sender 10.45.0.2 5201 10.45.0.1 10.45.0.2", "ended by SIGTERM"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sleep 60", "sent nothing to 10.45.0.2 port 5201 by UDP"),
        ("true", "sent nothing to 10.45.0.2 port 5201 by UDP"),
        ("echo 'no route to Rome' >&2; exit 3", "no route to Rome"),
    ],
)
def test_a_program_that_does_not_send_fails_the_run(
    kernel: Path, tmp_path: Path, body: str, message: str
) -> None:
    own = wrapper(tmp_path, body)
    output = tmp_path / "runs"
    said = ccu(
        "run", "--no-report", "--testbed", "virtual", "--cc", own, *SHORT, "--output", output
    )
    assert said.returncode == 1
    assert message in said.stderr
    (path,) = output.iterdir()
    content = json.loads((path / "run.json").read_text())
    assert content["status"] == "failed"
    assert message in content["failure"]["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cc", "program:./nothing"), "program:./nothing: no such file"),
        (("--cc", f"program:{ROOT / 'README.md'}"), "is not executable"),
        (("--cc", f"program:{EXAMPLE}", "--no-capture"), "is counted in the captures"),
        (("--cc", f"program:{EXAMPLE}", "--traffic", "tcp:1MB"), "makes its own traffic"),
        (("--cc", f"program:{EXAMPLE}", "--cc-param", "a=1"), "udp_aimd takes no parameters"),
    ],
)
def test_what_cannot_be_run_is_refused(
    kernel: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    output = tmp_path / "runs"
    said = ccu("run", "--no-report", "--testbed", "virtual", *arguments, *SHORT, "--output", output)
    assert said.returncode == 2
    assert message in said.stderr
    assert not output.exists()
