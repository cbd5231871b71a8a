# SPDX-License-Identifier: Apache-2.0
"""`nr-link shell --virtual`: a command of the user on a host of a link in virtual time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testsupport.virtual_time import PROGRAM


def shell(*words: str | Path, stdin: bytes = b"", folder: Path | None = None):  # type: ignore[no-untyped-def]
    command = [PROGRAM, "shell", "--virtual", *words]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=folder, timeout=300)


def test_streams_and_exit_code_are_the_commands(kernel: Path) -> None:
    bytes_of_all_kinds = bytes(range(256)) * 1000
    said = shell("--", "sh", "-c", "cat; echo no >&2; exit 7", stdin=bytes_of_all_kinds)
    assert said.stdout == bytes_of_all_kinds
    assert said.stderr == b"no\n"
    assert said.returncode == 7


def test_a_program_that_is_not_there_has_the_code_of_a_shell(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no program\n")
    nowhere, data = shell("--", "nowhere-to-be-found"), shell("--", tmp_path / "data")
    path = shell("--", "/no/such/program")
    assert [nowhere.returncode, path.returncode, data.returncode] == [127, 127, 126]
    assert b"/no/such/program: no such file" in path.stderr
    assert b"nowhere-to-be-found: is not a program on PATH. Install it" in nowhere.stderr
    assert b"data: is not executable. Run chmod +x" in data.stderr


def test_the_width_of_the_carrier_is_an_option(kernel: Path, tmp_path: Path) -> None:
    assert shell("--prb", "24", "--output", tmp_path, "--", "true").returncode == 0
    assert '"prb": 24' in (tmp_path / "link.yaml").read_text()
    wrong = shell("--prb", "0", "--", "true")
    assert wrong.returncode == 2
    assert b"error: --prb: 0 PRB is not a channel bandwidth" in wrong.stderr


@pytest.mark.parametrize("signal", [9, 40])
def test_a_signal_is_an_exit_code(kernel: Path, signal: int) -> None:
    assert shell("--", "sh", "-c", f"kill -{signal} $$").returncode == 128 + signal


def test_curl_downloads_from_a_server_of_python(kernel: Path, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    content = os.urandom(300_000)
    (tmp_path / "file").write_bytes(content)
    said = shell(
        *("--delay-ms", "100", "--server", f"{sys.executable} -m http.server 8000", "--"),
        *(
            "sh",
            "-c",
            "curl -s -w '%{stderr}took %{time_total}\n' http://$NR_LINK_SERVER:8000/file",
        ),
        folder=tmp_path,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout == content
    # The handshake and the request take a round trip of 200 ms each. The server writes there, too.
    (took,) = re.findall(rb"took ([0-9.]+)", said.stderr)
    assert float(took) > 0.4


@pytest.mark.parametrize(("on", "address"), [("ue", b"10.45.0.2"), ("server", b"10.45.0.1")])
def test_it_runs_on_the_named_host(kernel: Path, on: str, address: bytes) -> None:
    if not shutil.which("ip"):
        pytest.skip("needs ip")
    said = shell("--on", on, "--", "ip", "-o", "-4", "address")
    assert address in said.stdout


def test_output_keeps_samples_and_plan(kernel: Path, tmp_path: Path) -> None:
    assert shell("--output", tmp_path / "out", "--", "true").returncode == 0
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"link.yaml", "plan.json", "mac.csv", "link-summary.json", "virtual.json"} <= names


def test_ended_by_a_signal_it_leaves_no_folder(kernel: Path, tmp_path: Path) -> None:
    """While the guest waits for input, time stands still."""
    command = [PROGRAM, "shell", "--virtual", "--", "sh", "-c", "echo up; cat"]
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=own)
    assert run.stdout is not None
    assert run.stdout.readline() == b"up\n"
    assert list(tmp_path.iterdir())
    run.terminate()
    assert run.wait(600) == 130
    assert not list(tmp_path.iterdir())


def test_hosts_have_been_up_when_a_program_starts(kernel: Path) -> None:
    """A program that takes a clock of 0 for "not set" would not wait (ping does)."""
    read = "import time; print(time.monotonic(), open('/proc/uptime').read().split()[0])"
    sleep = "began = time.monotonic(); time.sleep(1); print(time.monotonic() - began)"
    said = shell("--", sys.executable, "-c", f"{read}; {sleep}")
    monotonic_s, uptime_s, slept_s = map(float, said.stdout.split())
    assert 3600 <= monotonic_s < 3605
    assert abs(uptime_s - monotonic_s) < 0.1
    assert abs(slept_s - 1) < 0.001


def test_registers_keep_their_values_beside_threads_children_and_signals(
    kernel: Path, tmp_path: Path
) -> None:
    """Vector registers stay in the host's process until the kernel or another thread needs them."""
    program = tmp_path / "registers"
    source = Path(__file__).with_name("registers.c")
    subprocess.run(["cc", "-O1", "-pthread", "-o", program, source], check=True)
    said = shell("--", program)
    assert (said.returncode, said.stdout, said.stderr) == (0, b"held\n", b"")
