# SPDX-License-Identifier: Apache-2.0
"""A congestion control in one BPF source file, from the file to the aligned table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs, received_bps
from testsupport.waiting import until

ROOT = Path(__file__).parents[2]
CCU = Path(sys.executable).parent / "ccu"
EXAMPLE = ROOT / "cc/bpf/aimd.bpf.c"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SHORT = ("--scenario", "static", "--prb", "24", "--duration", "3s")


@pytest.fixture
def source(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a user's own copy of the example, under another name."""
    assert runs
    file = tmp_path / "toy.bpf.c"
    file.write_text(EXAMPLE.read_text().replace("aimd", "toy"))
    monkeypatch.setenv("CCU_CC_PATH", str(tmp_path))
    return file


def ccu(*args: str) -> subprocess.CompletedProcess[str]:
    return command("ccu", *args, folder=ROOT)


@pytest.mark.root
def test_one_file_is_a_congestion_control(source: Path, runs: Runs) -> None:
    assert "BPF program (toy.bpf.c)" in ccu("list", "cc").stdout
    run = runs.analysed("--cc", "toy", *SHORT)
    manifest = json.loads((run / "run.json").read_text())
    assert [flow["cc_read_back"] for flow in manifest["flows"]] == ["toy"]
    assert manifest["cc_implementation"]["toy"]["kind"] == "bpf"
    assert (run / "raw/cc-toy.bpf.c").read_text() == source.read_text()
    assert "toy" in (run / "tables/aligned.csv").read_text()
    # AIMD fills a link whose buffer is larger than its bandwidth-delay product, or nearly so on a
    # busy machine.
    assert json.loads((run / "summary.json").read_text())["utilisation_ratio"] > 0
    assert "toy" not in AVAILABLE.read_text().split()


@pytest.mark.root
def test_a_killed_run_leaves_nothing_registered(source: Path, tmp_path: Path) -> None:
    command = [
        CCU,
        "run",
        "--testbed",
        "emulated",
        "--cc",
        "toy",
        *SHORT[:-1],
        "20s",
        "--output",
        tmp_path / "runs",
    ]
    assert source.exists()
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    until(lambda: "toy" in AVAILABLE.read_text().split(), run)
    run.kill()
    run.wait()
    assert ccu("clean").returncode == 0
    # The kernel ends the link of a dead process.
    until(lambda: "toy" not in AVAILABLE.read_text().split())


@pytest.mark.root
def test_a_source_that_does_not_compile_is_refused_with_its_line(
    source: Path, tmp_path: Path
) -> None:
    lines = source.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "tcp_slow_start" in line)
    lines[at] = "acked = tcp_slow_start(tp;\n"
    source.write_text("".join(lines))
    refused = ccu(
        "run", "--testbed", "emulated", "--cc", "toy", *SHORT, "--output", str(tmp_path / "runs")
    )
    assert refused.returncode == 2
    assert f"{source}:{at + 1}: clang: " in refused.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.root
def test_a_source_with_another_name_is_refused(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text().replace('.name = "toy"', '.name = "else"'))
    failed = ccu(
        "run", "--testbed", "emulated", "--cc", "toy", *SHORT, "--output", str(tmp_path / "runs")
    )
    assert failed.returncode == 2
    assert "the kernel would call it else" in failed.stderr
    assert "else" not in AVAILABLE.read_text().split()


@pytest.mark.root
def test_the_verifiers_reason_is_given_with_its_line(source: Path, tmp_path: Path) -> None:
    text = source.read_text().replace("__u32 cwnd =", "tcp_sk(sk)->srtt_us = 5;\n\t__u32 cwnd =")
    source.write_text(text)
    at = text[: text.index("srtt_us = 5")].count("\n") + 1
    refused = ccu(
        "run",
        "--testbed",
        "emulated",
        "--cc",
        str(source),
        *SHORT,
        "--output",
        str(tmp_path / "runs"),
    )
    assert refused.returncode == 2
    assert f"{source}:{at}: the kernel's verifier refuses this" in refused.stderr
    assert "this field may be read, not written" in refused.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.root
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.py", "nothing.py: no such file"),
        ("broken.py", "broken.py:1: syntax error"),
        ("without.py", "without.py:1: A has no `report`"),
        ("cubic.py", "the kernel has a congestion control cubic already"),
        ("renamed.bpf.c", "renamed.bpf.c:58: the kernel would call it toy"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    source: Path, tmp_path: Path, name: str, message: str
) -> None:
    file = tmp_path / name
    if name != "nothing.py":
        texts = {"broken.py": "class A\n", "without.py": "class A:\n    pass\n"}
        file.write_text(texts.get(name, source.read_text()))
    refused = ccu(
        "run",
        "--testbed",
        "emulated",
        "--cc",
        str(file),
        *SHORT,
        "--output",
        str(tmp_path / "runs"),
    )
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.root
def test_a_policy_in_python_controls_real_tcp(runs: Runs) -> None:
    run = runs.analysed("--cc", "constant.py", "--cc-param", "rate_mbps=5", *SHORT)
    manifest = json.loads((run / "run.json").read_text())
    assert [flow["cc_read_back"] for flow in manifest["flows"]] == ["constant"]
    plane = manifest["cc_implementation"]["constant"]["plane"]
    assert plane["commands"] > 0
    assert "cc_told_pacing_bps" in (run / "tables/aligned.csv").read_text()
    assert 0 < received_bps(run) < 1.05 * 5e6  # In virtual time it is within 1 % (tests/controls).
    assert "constant" not in AVAILABLE.read_text().split()


FAILING = {
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "the policy was killed, and Reno took over"),
    "stopped": ("os.kill(os.getpid(), signal.SIGSTOP)", "silent for 0.5 s, and Reno took over"),
    "divides": ("1 / 0", "the policy ended with ZeroDivisionError: division by zero (line 6)"),
    "unknown": ("flow.cwnd = float('nan')", "cwnd is nan, not a finite number"),
    "negative": ("flow.cwnd = -5", "cwnd is -5, outside of"),
    "huge": ("flow.cwnd = 10**400", "cwnd is inf, not a finite number"),
}


@pytest.fixture(scope="module")
def failing(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a flow for each policy that fails."""
    folder = tmp_path_factory.mktemp("failing")
    for name, (body, _) in FAILING.items():
        lines = f"        if r.delivered > 300:\n            {body}"
        text = f"import os, signal\n\nclass Gone:\n    def report(self, flow, r):\n{lines}\n"
        (folder / f"{name}.py").write_text(text)
    flows = ",".join(f"{folder / name}.py@0" for name in FAILING)
    return runs("--flows", flows, "--scenario", "static", "--prb", "106", "--duration", "4s")


@pytest.mark.root
@pytest.mark.parametrize("name", FAILING)
def test_reno_has_the_flows_of_a_policy_that_fails(failing: Path, name: str) -> None:
    manifest = json.loads((failing / "run.json").read_text())
    assert manifest["cc_implementation"][name]["plane"]["fallbacks"] >= 1
    said = [reason for reason in manifest["verdict_reasons"] if reason.startswith(f"{name}: ")]
    assert FAILING[name][1] in "; ".join(said)
    (flow,) = (flow["id"] for flow in manifest["flows"] if flow["cc"] == name)
    report = json.loads((failing / f"raw/iperf3-{flow}-server.json").read_text())
    assert report["intervals"][-1]["sum"]["bytes"] > 0  # The flow lives on.
    assert name not in AVAILABLE.read_text().split()
