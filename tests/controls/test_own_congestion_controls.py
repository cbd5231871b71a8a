# SPDX-License-Identifier: Apache-2.0
"""Congestion controls of one's own in virtual time: policies in Python, and sources for BPF."""

from __future__ import annotations

import csv
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs, json_of, received_bps

BIN = Path(sys.executable).parent
CC = Path(__file__).parents[2] / "cc"
# The buffer is less than the 215 packets that the path holds, so AIMD does not fill the link.
SAWTOOTH = ("--prb", "24", "--scenario", "static", "--rtt", "120ms", "--buffer", "100pkt",
            "--duration", "90s")  # fmt: skip
SHORT = ("--prb", "24", "--scenario", "static", "--duration", "5s")


class Run:
    """A run that has ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content = json_of(path / "run.json")

    def trace(self, name: str) -> list[dict[str, str]]:
        """The rows of the sender's flow."""
        with (self.path / f"raw/cc-{name}.csv").open() as file:
            return [row for row in csv.DictReader(file) if row["dport"] == "5201"]


def policy(folder: Path, body: str, name: str = "mine") -> str:
    """A policy whose `report` is `body`."""
    file = folder / f"{name}.py"
    file.write_text(f"import os, signal\n\nclass Mine:\n    def report(self, flow, r):\n{body}\n")
    return str(file)


@pytest.fixture(scope="module")
def reno(experiments: Runs) -> Run:
    """The kernel's own Reno."""
    return Run(experiments("--cc", "reno", *SAWTOOTH))


def test_aimd_in_python_is_reno(experiments: Runs, reno: Run) -> None:
    run = Run(experiments("--cc", "aimd.py", *SAWTOOTH))
    assert received_bps(run.path) == pytest.approx(received_bps(reno.path), rel=0.05)
    assert received_bps(run.path) < 0.95 * 26.6e6  # or any congestion control would do
    assert run.content["cc_implementation"]["aimd"]["kind"] == "policy"
    assert run.content["flows"][0]["cc_read_back"] == "aimd"
    assert run.content["verdict"] == "valid"


def test_a_source_for_bpf_is_reno_in_virtual_time(experiments: Runs, reno: Run) -> None:
    run = Run(experiments("--cc", str(CC / "bpf/aimd.bpf.c"), *SAWTOOTH))
    assert received_bps(run.path) == pytest.approx(received_bps(reno.path), rel=0.05)
    assert run.content["cc_implementation"]["aimd"]["kind"] == "module"


def test_a_constant_policy_holds_its_rate(experiments: Runs) -> None:
    run = Run(experiments("--cc", "constant.py", "--cc-param", "rate_mbps=10", *SHORT[:-1], "20s"))
    # The pacing rate counts headers of 52 bytes for each 1448 of payload; the path takes a moment.
    assert received_bps(run.path) == pytest.approx(10e6, rel=0.01)


def test_the_tutorial_holds_its_queue(experiments: Runs) -> None:
    run = Run(experiments("--cc", "tutorial.py", "--cc-param", "queue_ms=40", *SHORT[:-1], "20s"))
    settled = [row for row in run.trace("tutorial") if row["rtt_min_us"]][500:]
    queue_ms = [(int(row["rtt_min_us"]) - int(row["min_rtt_us"])) / 1000 for row in settled]
    assert statistics.mean(queue_ms) == pytest.approx(40, rel=0.15)


def test_the_same_experiment_gives_the_same_bytes(experiments: Runs, tmp_path: Path) -> None:
    run = Run(experiments("--cc", "aimd.py", "--cc-param", "think=3ms", *SHORT))
    said = command("ccu", "rerun", run.path, "--output", tmp_path / "second")
    assert said.returncode == 0, said.stderr + said.stdout
    assert "identical to" in said.stdout


def test_what_a_policy_does_before_it_is_ready_changes_no_packet(
    experiments: Runs, tmp_path: Path
) -> None:
    """Neither does how long it takes to start, which its folder and compiled modules decide."""
    run = Run(experiments("--cc", "aimd.py", "--cc-param", "think=3ms", *SHORT))
    raw = Path(shutil.copytree(run.path / "raw", tmp_path / "raw"))
    plan = json_of(raw / "virtual-plan.json")
    (program,) = plan["programs"]
    python, *arguments = program["command"]
    program["command"] = [python, "-X", "importtime", *arguments]  # which reads the clock often
    (raw / "virtual-plan.json").write_text(json.dumps(plan))
    written = [*raw.glob("*.pcap"), raw / "mac.csv", raw / "cc-aimd.csv"]
    before = {file.name: file.read_bytes() for file in written}
    for file in written:
        file.unlink()
    said = subprocess.run(
        [BIN / "nr-link", "virtual", "run", raw / "virtual-plan.json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert {file.name: file.read_bytes() for file in written} == before


def test_a_policy_that_thinks_answers_later(experiments: Runs) -> None:
    steady = ("--cc-param", "rate_mbps=10", *SHORT)  # No loss, each of which is reported.
    at_once = Run(experiments("--cc", "constant.py", *steady))
    slow = Run(experiments("--cc", "constant.py", *steady, "--cc-param", "think=4ms"))
    told_us = [
        run.content["cc_implementation"]["constant"]["plane"]["report_to_command_us"]["p50"]
        for run in (at_once, slow)
    ]
    assert told_us[0] < 10
    assert told_us[1] == pytest.approx(4000, abs=20)


def test_the_waiting_for_a_slow_links_acks_is_not_the_policys(experiments: Runs) -> None:
    slow_link = ("--scenario", "cellular-3g", "--rtt", "20ms", "--duration", "20s")
    run = Run(experiments("--cc", "tutorial.py", *slow_link))
    plane = run.content["cc_implementation"]["tutorial"]["plane"]
    assert plane["report_to_applied_us"]["p99"] > 20e3 / 4  # a quarter of the round-trip time
    assert plane["report_to_command_us"]["p99"] < 10
    assert plane["overdue_us"]["max"] == 0
    assert run.content["verdict"] == "valid"
    late = Run(experiments("--cc", "tutorial.py", "--cc-param", "think=6ms", *slow_link))
    assert late.content["verdict"] == "degraded"
    assert "ms after their report (99th percentile)" in late.content["verdict_reasons"][0]


def test_several_flows_have_their_own_policies_and_parameters(
    experiments: Runs, tmp_path: Path
) -> None:
    own = policy(tmp_path, "        flow.cwnd, flow.pacing_bps = 10_000, 4e6")
    flows = f"constant.py@0,{own}@0,cubic@1"
    arguments = ("--flows", flows, "--cc-param", "constant.rate_mbps=2", *SHORT)
    run = Run(experiments(*arguments))
    assert received_bps(run.path, "f0") == pytest.approx(2e6, rel=0.05)
    assert received_bps(run.path, "f1") == pytest.approx(4e6, rel=0.05)
    assert {one["cc"] for one in run.content["cc_traces"]} == {"constant", "mine"}
    table = experiments.table(*arguments).dropna(subset="cc_told_pacing_bps")
    assert table.groupby("flow").cc_told_pacing_bps.last().to_dict() == {"f0": 2e6, "f1": 4e6}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("1 / 0", "the policy ended with ZeroDivisionError: division by zero (line 6)"),
        ("raise SystemExit('enough')", "the policy ended with SystemExit: enough (line 6)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "the policy was killed"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "the policy was silent for 0.5 s"),
        (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGSTOP)",
            "the policy was killed",
        ),
        ("flow.cwnd = float('nan')", "cwnd is nan, not a finite number"),
        ("flow.cwnd = -5", "cwnd is -5, outside of"),
        ("flow.cwnd = 1e30", "cwnd is 1e+30, outside of"),
        ("flow.cwnd = 10**400", "cwnd is inf, not a finite number"),
        ("flow.pacing_bps = 'fast'", "pacing_bps is 'fast', not a finite number"),
    ],
)
def test_reno_takes_over_from_a_policy_that_fails(
    experiments: Runs, tmp_path: Path, body: str, reason: str
) -> None:
    own = policy(tmp_path, f"        if r.delivered > 500:\n            {body}\n        else:"
                           "\n            flow.cwnd = 50")  # fmt: skip
    run = Run(experiments("--cc", own, *SHORT))
    assert run.content["status"] == "finished"
    assert run.content["verdict"] == "degraded"
    assert reason in "; ".join(run.content["verdict_reasons"])
    assert run.content["cc_implementation"]["mine"]["plane"]["fallbacks"] == 1
    assert received_bps(run.path) > 20e6  # of 26.6: Reno fills the link


def test_a_policy_may_set_numbers_of_numpy(experiments: Runs, tmp_path: Path) -> None:
    values = "numpy.int64(99), numpy.float32(5e6)"
    body = f"        import numpy\n        flow.cwnd, flow.pacing_bps = {values}"
    run = Run(experiments("--cc", policy(tmp_path, body), *SHORT))
    assert run.content["verdict"] == "valid"
    assert received_bps(run.path) == pytest.approx(5e6, rel=0.05)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.py", "class A:\n    def report(self\n", "bad.py:2: syntax error"),
        ("bad.py", "class A:\n    pass\n", "bad.py:1: A has no `report`"),
        (
            "bad.py",
            "class A:\n    def report(self):\n        pass\n",
            "bad.py:2: A.report does not",
        ),
        ("bad.py", "import nothing\n", "bad.py:1: ModuleNotFoundError"),
        ("vegas.py", "", "the kernel in virtual time has a congestion control vegas already"),
        ("a-name-too-long-.py", "", "'a-name-too-long-' is not"),
        ("bad.txt", "", "is not a source file of a congestion control"),
        ("bad.bpf.c", 'SEC(".maps")\n', "bad.bpf.c:1: there are no BPF maps in virtual time"),
        ("bad.bpf.c", "int x;\n", 'bad.bpf.c: has no SEC(".struct_ops")'),
    ],
)
def test_a_file_that_is_no_congestion_control_is_refused(
    kernel: Path, tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    words = ["--testbed", "virtual", "--cc", tmp_path / name, *SHORT]
    said = command("ccu", "run", "--no-report", *words, "--output", tmp_path / "runs")
    assert said.returncode == 2
    assert message in said.stderr
    assert not (tmp_path / "runs").exists()


def test_a_source_that_does_not_compile_is_refused_with_its_line(
    kernel: Path, tmp_path: Path
) -> None:
    lines = (CC / "bpf/aimd.bpf.c").read_text().replace("aimd", "toy").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "tcp_slow_start" in line)
    lines[at] = "acked = tcp_slow_start(tp;\n"
    (tmp_path / "toy.bpf.c").write_text("".join(lines))
    words = ["--testbed", "virtual", "--cc", tmp_path / "toy.bpf.c", *SHORT]
    said = command("ccu", "run", "--no-report", *words, folder=tmp_path)
    assert said.returncode == 2
    assert f"toy.bpf.c:{at + 1}: gcc: " in said.stderr
