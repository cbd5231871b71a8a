# SPDX-License-Identifier: GPL-2.0-only
"""Test the BPF program's loader on this kernel: bad input, registration, trace, DTT per flow."""

from __future__ import annotations

import csv
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..core_binding import CM_DRAIN, MEAN_BASE, NDE_BOUNDED, NEW_PATH, params
from ..replay import agreeing_rows, flows_of

NR_LINK = Path(sys.executable).parent / "nr-link"
KMOD = Path(__file__).parents[2]
LOADER = (sys.executable, KMOD / "loader")
MODULES = runpy.run_path(str(KMOD / "loader"))
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
REMINIS_DTT = 21060  # reminis_uapi.h

TRACE_PIPE = (
    "          traffic-91      [000] .Ns2.    12.345678: reminis_si: sport=40112 dport=5201 zone=2 "
    "action=none delay_us=21034 min_rtt_us=20011 dtt_us=30016 gradient_q24=8388608 "
    "mu_q24=-16777216 draw_q24=0 cwnd_before=40 cwnd_after=40 si_us=20031 samples=38\n"
    "CPU:0 [LOST 17 EVENTS]\n"
    "          traffic-91      [000] .Ns2.    12.350000: tcp_probe: sport=1\n"
    "          traffic-91      [000] .Ns2.    12.366078: reminis_si: sport=40112 dport=5201 zone=1 "
    "action=nde delay_us=20500 min_rtt_us=20011 dtt_us=30016 gradient_q24=-4194304 "
    "mu_q24=12582912 draw_q24=25165824 cwnd_before=40 cwnd_after=61 si_us=20400 samples=40\n"
)

pytestmark = pytest.mark.skipif(
    not (KMOD / "build/reminis.bpf.o").exists(),
    reason="build/reminis.bpf.o is missing: run make -C kmod bpf",
)


def status() -> dict[str, Any]:
    output = subprocess.run([*LOADER, "status"], capture_output=True, text=True, check=True).stdout
    answer: dict[str, Any] = json.loads(output)
    return answer


@pytest.fixture
def kernel() -> None:
    answer = status()
    if not answer["usable"]:
        pytest.skip(f"BPF Reminis cannot run here: {answer['why_not']}")
    if answer["registered"] != "none":
        pytest.skip(f"the name reminis is in use by process {answer['pid']}")


def registered() -> bool:
    return "reminis" in AVAILABLE.read_text().split()


def wait_until_gone(seconds: float = 300) -> bool:
    end = time.monotonic() + seconds
    while registered() and time.monotonic() < end:
        time.sleep(0.05)
    return not registered()


class Loader:
    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*LOADER, "run", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.ready: dict[str, Any] = json.loads(line)

    def stop(self) -> dict[str, Any]:
        self.process.send_signal(signal.SIGTERM)
        output, errors = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, errors
        done: dict[str, Any] = json.loads(output)
        return done


@pytest.fixture
def killed_later() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--dtt", "0ms"], "above 0 and at most 10s"),
        (["--dtt=-3ms"], "above 0 and at most 10s"),
        (["--dtt", "10.1s"], "above 0 and at most 10s"),
        (["--dtt", "nanms"], "above 0 and at most 10s"),
        (["--dtt", "30"], "Write for example 30ms"),
        (["--dtt", "thirty"], "Write for example 30ms"),
        (["--dtt-factor", "1"], "above 1 and at most 100"),
        (["--dtt-factor", "x"], "above 1 and at most 100"),
        (["--port-dtt", "0=30ms"], "PORT=DTT"),
        (["--port-dtt", "65536=30ms"], "PORT=DTT"),
        (["--port-dtt", "5201"], "PORT=DTT"),
        (["--port-dtt", "5201=0ms"], "above 0 and at most 10s"),
        (["--seed", "-1"], "whole number"),
        (["--frobnicate"], "unrecognized option"),
        (["rest"], "unexpected"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        MODULES["run_options"].parse(options)
    output, errors = capsys.readouterr()
    assert ended.value.code == 2
    assert output == ""
    assert errors.count("\n") == 1
    assert reason in errors


def test_the_modules_trace_becomes_the_same_csv(tmp_path: Path) -> None:
    """The lines are those of Linux 6.1, with the clock `mono`, and one of another event."""
    reading, writing = os.pipe()
    os.write(writing, TRACE_PIPE.encode())
    os.set_blocking(reading, False)
    trace = MODULES["module_trace"].TraceFile(tmp_path / "trace.csv")
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        assert MODULES["module_trace"]._take(pipe, trace) == 17
    os.close(writing)
    assert trace.record_count == 2
    header, none, nde = (tmp_path / "trace.csv").read_text().splitlines()
    assert header.startswith("utc_ns,sport,dport,zone,action,delay_us,min_rtt_us,dtt_us,gradient,")
    assert none.partition(",")[2] == (
        "40112,5201,2,none,21034,20011,30016,0.500000,-1.000000,,40,40,20031,38"
    )
    assert nde.partition(",")[2] == (
        "40112,5201,1,nde,20500,20011,30016,-0.250000,0.750000,1.500000,40,61,20400,40"
    )
    times_ns = [int(row.partition(",")[0]) for row in (none, nde)]
    assert times_ns[1] - times_ns[0] == 20_400_000
    expected_ns = 12_345_678_000 + time.time_ns() - time.monotonic_ns()
    assert abs(times_ns[0] - expected_ns) < 1_000_000_000


@pytest.mark.usefixtures("kernel")
def test_a_trace_that_cannot_be_written_is_reported_before_anything_starts() -> None:
    result = subprocess.run(
        [*LOADER, "run", "--trace", "/nowhere/x.csv"], capture_output=True, text=True
    )
    assert result.returncode == 1
    assert "/nowhere/x.csv: No such file or directory" in result.stderr
    assert not registered()


@pytest.mark.usefixtures("kernel")
def test_active_parameters_are_reported() -> None:
    loader = Loader("--dtt", "30ms", "--dtt-factor", "2", "--seed", "5", "--no-ps", "--no-pacing")
    assert registered()
    assert status()["pid"] == loader.process.pid
    done = loader.stop()
    expected = {
        "event": "ready",
        "cc": "reminis",
        "implementation": "bpf",
        "dtt_us": 30000,
        "dtt_factor": 2.0,
        "seed": 5,
        "pacing": False,
        "switches": ["no-ps"],
        "port_dtt_us": {},
    }
    assert expected.items() <= loader.ready.items()
    assert (done["event"], done["trace_lost"]) == ("done", 0)
    assert not registered()


@pytest.mark.usefixtures("kernel")
def test_a_second_loader_is_refused() -> None:
    loader = Loader()
    second = subprocess.run([*LOADER, "run"], capture_output=True, text=True)
    loader.stop()
    assert second.returncode == 1
    assert f"already registered by process {loader.process.pid}" in second.stderr


@pytest.mark.usefixtures("kernel")
def test_kill_9_leaves_nothing_after_clean(
    killed_later: list[subprocess.Popen[str]],
) -> None:
    loader = Loader()
    killed_later.append(loader.process)
    loader.process.kill()
    loader.process.wait()
    if loader.ready["outlives_loader"]:
        assert status()["left_behind"]
    subprocess.run([*LOADER, "clean"], check=True, capture_output=True)
    assert wait_until_gone()


@pytest.mark.usefixtures("kernel")
def test_clean_leaves_a_running_loader_alone() -> None:
    loader = Loader()
    subprocess.run([*LOADER, "clean"], check=True, capture_output=True)
    assert registered()
    loader.stop()


@pytest.mark.usefixtures("kernel")
def test_it_ends_with_its_parent() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run({[*map(str, LOADER), 'run']})"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert "ready" in parent.stdout.readline()
    parent.kill()
    parent.wait()
    assert wait_until_gone()


def transfer(megabytes: int, dtt_us: int = 0) -> tuple[int, int]:
    """Send over loopback with Reminis; return the server's port and the DTT in force at the end."""
    server = socket.create_server(("127.0.0.1", 0))
    port: int = server.getsockname()[1]

    def sink() -> None:
        connection, _ = server.accept()
        while connection.recv(1 << 20):
            pass
        connection.close()

    thread = threading.Thread(target=sink)
    thread.start()
    with server, socket.socket() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reminis")
        if dtt_us:
            client.setsockopt(socket.IPPROTO_IP, REMINIS_DTT, dtt_us)
        client.connect(("127.0.0.1", port))
        for _ in range(megabytes):
            client.sendall(bytes(1 << 20))
        in_force_us = client.getsockopt(socket.IPPROTO_IP, REMINIS_DTT)
    thread.join()
    return port, in_force_us


def rows_of(trace: Path, port: int) -> list[dict[str, str]]:
    with trace.open() as file:
        return [row for row in csv.DictReader(file) if row["dport"] == str(port)]


@pytest.mark.usefixtures("kernel")
def test_the_trace_has_a_valid_row_per_interval(tmp_path: Path) -> None:
    trace = tmp_path / "cc-reminis.csv"
    loader = Loader("--dtt", "30ms", "--trace", str(trace))
    before_ns = time.time_ns()
    port, _ = transfer(64)
    after_ns = time.time_ns()
    done = loader.stop()
    rows = rows_of(trace, port)
    assert len(rows) > 10
    assert done["trace_records"] >= len(rows)
    for row in rows:
        assert before_ns <= int(row["utc_ns"]) <= after_ns
        assert row["zone"] in "123"
        assert row["action"] in ("none", "nde", "ps", "cm")
        assert (row["draw"] != "") == (row["action"] == "nde")
        assert row["dtt_us"] == "30000"
        assert int(row["min_rtt_us"]) <= int(row["delay_us"])
        assert int(row["si_us"]) >= int(row["min_rtt_us"])
        assert int(row["samples"]) >= 1


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("options", "switches"),
    [
        ([], 0),
        # Not one_way: in real time some ACKs are late on the way back; the trace does not say so.
        (
            ["--mean-base", "--nde-bounded", "--cm-drain", "--new-path"],
            MEAN_BASE | NDE_BOUNDED | CM_DRAIN | NEW_PATH,
        ),
    ],
    ids=["paper", "radio"],
)
def test_its_decisions_are_those_of_the_core_on_this_host(
    traffic: Path, tmp_path: Path, options: list[str], switches: int
) -> None:
    """The program decides as the module does for the same samples (test_module.py)."""
    if os.geteuid() or not NR_LINK.exists():
        pytest.skip("needs root and nr-link (make build), which makes a link of 20 ms")
    for name in ("up", "down"):  # 36 Mbit/s
        (tmp_path / name).write_text("".join(f"{ms}\n" * 3 for ms in range(1, 101)))
    loader = Loader("--seed", "1", "--trace", str(tmp_path / "cc-reminis.csv"), *options)
    shell = [NR_LINK, "shell", "--trace", "up", "down", "--delay-ms", "10"]
    shell += ["--queue-packets", "1000", "--server", f"exec {traffic} sink 5201"]
    send = f"sleep 0.5; {traffic} send $NR_LINK_SERVER 5201 reminis 4"
    sent = subprocess.run(
        [*shell, "--", "sh", "-c", send], cwd=tmp_path, capture_output=True, text=True
    )
    loader.stop()
    assert sent.returncode == 0, sent.stderr
    rows = max(flows_of(tmp_path / "cc-reminis.csv").values(), key=len)
    assert {"nde", "cm"} <= {row["action"] for row in rows} or switches
    settings = params(switches=switches, seed=1)
    assert agreeing_rows(rows, settings, real_time=True) == len(rows)
    assert agreeing_rows(rows, params(switches=switches, seed=2)) < len(rows)


@pytest.mark.usefixtures("kernel")
def test_a_socket_has_its_own_dtt(tmp_path: Path) -> None:
    trace = tmp_path / "cc-reminis.csv"
    loader = Loader("--dtt", "30ms", "--trace", str(trace))
    if not loader.ready["socket_option"]:
        loader.stop()
        pytest.skip("no cgroup v2 hierarchy, which the socket option needs")
    port, in_force_us = transfer(16, dtt_us=45_000)
    loader.stop()
    assert in_force_us == 45_000
    assert {row["dtt_us"] for row in rows_of(trace, port)} == {"45000"}


@pytest.mark.usefixtures("kernel")
def test_a_port_has_its_own_dtt(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free_port = probe.getsockname()[1]
    trace = tmp_path / "cc-reminis.csv"
    loader = Loader("--port-dtt", f"{free_port}=60ms", "--trace", str(trace))
    with socket.create_server(("127.0.0.1", free_port)) as server, socket.socket() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reminis")
        client.connect(("127.0.0.1", free_port))
        connection, _ = server.accept()
        for _ in range(50):
            client.sendall(bytes(1000))
            connection.recv(1 << 16)
        connection.close()
    assert loader.ready["port_dtt_us"] == {str(free_port): 60000}
    loader.stop()
    assert {row["dtt_us"] for row in rows_of(trace, free_port)} == {"60000"}


def test_without_root_it_says_so() -> None:
    if os.geteuid():
        pytest.skip("this test drops root privileges and so needs root")
    # Another user may not be allowed to read this Python: import all before.
    script = f"import os, runpy, sys; loader = runpy.run_path('{LOADER[1]}'); "
    script += "loader['run_options'].parse([]); os.setuid(65534); sys.exit(loader['main'](['run']))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 1
    assert "not root" in result.stderr
