# SPDX-License-Identifier: Apache-2.0
"""Experiments of `ccu` on the testbed `virtual`, and their analysis."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from testsupport.prepared import BIN, WITHOUT_SPEED, command
from testsupport.runs import Runs, json_of, received_bps

ROOT = Path(__file__).parents[2]
SHORT = ("--duration", "3s", "--prb", "24", "--seed", "7")
RUN = ("--cc", "reminis", "--dl")


def ccu_run(output: Path, *arguments: str) -> Path:
    """The directory of a run in virtual time."""
    said = command(
        "ccu", "run", "--no-report", "--testbed", "virtual", *SHORT, *arguments, "--output", output
    )
    assert said.returncode == 0, said.stderr
    (directory,) = (path for path in output.iterdir() if path.is_dir())
    return directory


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ("--cc", "vegas", "--ul"),
        ("--cc", "bbr", "--bidir"),
        ("--cc", "cubic", "--dl", "--ues", "2"),
    ],
)
def test_ddu_analyses_a_run(experiments: Runs, arguments: tuple[str, ...]) -> None:
    run = experiments.analysed(*SHORT, *arguments)
    content = json_of(run / "run.json")
    assert (content["status"], content["verdict"]) == ("finished", "valid")
    assert content["time"]["clock"] == "virtual"
    for flow in content["flows"]:
        assert flow["cc_read_back"] == flow["cc"]
    summary = json.loads((run / "summary.json").read_text())
    assert summary["verdict"] == "valid", summary


def test_the_same_experiment_gives_the_same_bytes(experiments: Runs, tmp_path: Path) -> None:
    runs = experiments(*SHORT, *RUN), ccu_run(tmp_path, *RUN)
    files = ("sender.pcap", "receiver.pcap", "mac.csv", "cc-reminis.csv", "sockets-server.pcap")
    for name in files:
        one, two = ((run / "raw" / name).read_bytes() for run in runs)
        assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest(), name


def test_rerun_says_identical_or_what_differs_first(experiments: Runs, tmp_path: Path) -> None:
    run = shutil.copytree(experiments(*SHORT, *RUN), tmp_path / "first")

    def rerun(output: str) -> subprocess.CompletedProcess[str]:
        return command("ccu", "rerun", run, "--output", tmp_path / output)

    same = rerun("same")
    assert same.returncode == 0, same.stderr
    assert f"identical to {run}" in same.stdout
    capture = bytearray((run / "raw/receiver.pcap").read_bytes())
    capture[1000] ^= 1
    (run / "raw/receiver.pcap").write_bytes(capture)
    changed = rerun("changed")
    assert changed.returncode == 1
    assert "not identical: raw/receiver.pcap differs from byte 1000 on" in changed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cc", "vegaz"), "--cc: no congestion control 'vegaz'. Did you mean vegas?"),
        (("--cc", "cubic", "--cc-param", "dtt=30ms"), "--cc-param: cubic takes no parameters"),
        (("--cc", "reminis", "--cc-param", "dtt=0ms"), "dtt=0ms"),
        (("--cc", "cubic", "--prb", "107"), "107 PRB is not a channel bandwidth"),
        (("--cc", "cubic", "--loss", "1"), "--loss: 100 % of the packets are lost"),
        (("--cc", "cubic", "--ul", "--loss", "100%"), "Write less, such as 1% or 0.01"),
        (("--cc", "cubic", "--change", "5s:cc=vegaz"), "--change: no congestion control 'vegaz'"),
        (("--cc", "cubic", "--change", "5s:cc=./no.py"), "--change: ./no.py: no such file"),
        (("--cc", "cubic", "--aqm", "fq_codel"), "Choose one of: droptail, codel, pie"),
        (("--cc", "cubic", "--change", "5s:aqm=fq"), '--change: unknown value "fq". Choose one'),
        (("--cc", "cubic", "--carriers", "17"), "--carriers: '17' is not between 1 and 16"),
        (("--cc", "cubic", "--duration", "0s"), "--duration: '0s' is not more than 0"),
        (("--cc", "cubic", "--rtt", "-1ms"), "--rtt: '-1ms' is less than 0"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_made(
    kernel: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    words = ["run", "--testbed", "virtual", *arguments, "--output", tmp_path / "no"]
    said = command("ccu", *words)
    assert said.returncode == 2
    assert message in said.stderr
    assert not (tmp_path / "no").exists()


def test_a_campaign_runs_what_only_the_kernel_in_virtual_time_has(
    kernel: Path, tmp_path: Path
) -> None:
    file = tmp_path / "vegas.yaml"
    file.write_text(
        "title: Vegas beside CUBIC\n"
        "base: {testbed: virtual, scenario: static, prb: 24, duration: 1s}\n"
        "factors: {cc: [vegas, cubic]}\n"
    )
    said = command("ccu", "campaign", "run", file, "--output", tmp_path / "out")
    assert said.returncode == 0, said.stderr
    runs = (tmp_path / "out").glob("*/runs/*/*/run.json")
    ccs = sorted(json.loads(one.read_text())["flows"][0]["cc_read_back"] for one in runs)
    assert ccs == ["cubic", "vegas"]


def run_at_default(output: Path, *arguments: str, **environment: str) -> tuple[str, str]:
    """The testbed that `ccu run` takes where none is named, and what it prints on stderr."""
    words = ["run", "--dry-run", *arguments, "--output", output]
    said = command("ccu", *words, environment=environment)
    assert said.returncode == 0, said.stderr
    return yaml.safe_load(said.stdout)["testbed"], said.stderr


def test_without_a_name_it_is_the_testbed(kernel: Path, tmp_path: Path) -> None:
    assert run_at_default(tmp_path, "--cc", "vegas") == ("virtual", "")


def test_without_its_kernel_it_is_emulated_and_one_line_says_why(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    testbed, said = run_at_default(tmp_path, "--cc", "cubic", CCU_KERNEL=nowhere)
    assert testbed == "emulated"
    (line,) = said.splitlines()
    assert line.startswith(f"ccu: testbed emulated, not virtual: {nowhere}")


def test_a_file_that_is_not_there_is_no_reason_for_another_testbed(
    kernel: Path, tmp_path: Path
) -> None:
    said = command("ccu", "run", "--cc", "./nope.py", "--dry-run", "--output", tmp_path / "out")
    assert said.returncode == 2
    assert said.stderr.startswith("ccu: error: --cc: ./nope.py: no such file")


@pytest.mark.parametrize(
    "words",
    [
        ("--loss", "100%", "--change", "1s:loss=0"),
        ("--change", "1s:loss=100%", "--change", "2s:loss=0"),
    ],
)
def test_an_outage_that_ends_is_accepted(
    kernel: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = command("ccu", "run", "--cc", "cubic", *words, "--dry-run", "--output", tmp_path / "o")
    assert said.returncode == 0, said.stderr


def test_a_source_of_the_users_folder_is_found_by_its_name(kernel: Path, tmp_path: Path) -> None:
    source = (ROOT / "cc/bpf/aimd.bpf.c").read_text().replace("aimd", "mine")
    (tmp_path / "mine.bpf.c").write_text(source)
    folder = {"CCU_CC_PATH": str(tmp_path)}
    words = ["run", "--cc", "mine", "--dry-run", "--output", tmp_path / "out"]
    said = command("ccu", *words, environment=folder)
    assert said.returncode == 0, said.stderr
    assert "emulated" not in said.stderr
    assert "testbed: virtual" in said.stdout


def test_a_campaign_keeps_the_testbed_that_it_began_on(kernel: Path, tmp_path: Path) -> None:
    file = tmp_path / "short.yaml"
    file.write_text("title: x\nbase: {scenario: static, duration: 1s}\nfactors: {cc: [cubic]}\n")
    words = ["campaign", "run", file, "--output", tmp_path / "out"]
    for environment in ({}, {"CCU_KERNEL": str(tmp_path / "nowhere")}):
        command("ccu", *words, environment=environment)
    (campaign,) = (tmp_path / "out").iterdir()
    content = json.loads((campaign / "campaign.json").read_text())
    assert content["campaign"]["base"]["testbed"] == "virtual"
    assert len(list(campaign.glob("runs/*/*/run.json"))) == 1


def test_doctor_says_first_which_testbed_is_the_default(kernel: Path, tmp_path: Path) -> None:
    def first(**environment: str) -> dict[str, Any]:
        said = command("ccu", "doctor", "--json", environment=environment, changed=WITHOUT_SPEED)
        finding: dict[str, Any] = json.loads(said.stdout)[0]
        return finding

    assert first()["detail"] == "virtual"
    without = first(CCU_KERNEL=str(tmp_path / "nowhere"))
    assert without["detail"] == "emulated"
    assert "setup/virtual-kernel" in without["fix"]


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_iperf3_measures_what_the_built_in_traffic_does(
    kernel: Path, tmp_path: Path, direction: str
) -> None:
    if not shutil.which("iperf3"):
        pytest.skip("needs iperf3")
    received = {}
    for program in ("built-in", "iperf3"):
        arguments = ("--cc", "cubic", direction, "--scenario", "static", "--duration", "5s")
        run = ccu_run(tmp_path / program, *arguments, "--traffic-program", program)
        received[program] = received_bps(run)
        assert json_of(run / "run.json")["flows"][0]["cc_read_back"] == "cubic"
    assert received["iperf3"] == pytest.approx(received["built-in"], rel=0.01)


def test_iperf3_is_no_choice_in_real_time(tmp_path: Path) -> None:
    words = ["--testbed", "emulated", "--traffic-program", "iperf3", "--cc", "cubic"]
    said = command("ccu", "run", "--no-report", *words)
    assert said.returncode == 2
    assert "--traffic-program: is for other testbeds. Add --testbed virtual" in said.stderr


def test_ddu_says_that_time_was_virtual(kernel: Path, tmp_path: Path) -> None:
    run = ccu_run(tmp_path, "--cc", "cubic")
    said = command("ddu", "analyze", run)
    assert "virtual time" in said.stdout
    assert "time was virtual" in (run / "report.html").read_text()


def test_nobody_without_any_right_runs_and_analyses(kernel: Path, tmp_path: Path) -> None:
    """In a mount namespace where nobody can enter the folders of Python and of this tree."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv, to become nobody")
    output = Path(tempfile.mkdtemp(prefix="ccu-nobody-"))
    os.chown(output, 65534, 65534)
    drop = "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs"
    drop += " --bounding-set=-all --inh-caps=-all"
    script = f"""
        set -e
        {_open_to_all(Path(sys.base_prefix), tmp_path / "python")}
        {_open_to_all(ROOT, tmp_path / "tree")}
        cd {output}
        export HOME={output} PYTHONDONTWRITEBYTECODE=1
        {drop} {BIN}/ccu run --cc reminis --dl --prb 106 --duration 3s --output {output}/runs
        {drop} {BIN}/ddu analyze {output}/runs/*
    """
    try:
        command = ["unshare", "--mount", "sh", "-c", script]
        said = subprocess.run(command, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
        (run,) = (output / "runs").iterdir()
        assert json_of(run / "run.json")["experiment"]["testbed"] == "virtual"
        assert (run / "report.html").stat().st_uid == 65534
    finally:
        shutil.rmtree(output)


def _open_to_all(folder: Path, place: Path) -> str:
    """Shell commands that show `folder` where it is, in folders that everyone may enter."""
    closed = [path for path in reversed(folder.parents) if not path.stat().st_mode & 0o001]
    if not closed:
        return ""
    place.mkdir()
    return (
        f"mount --bind {folder} {place}; mount -t tmpfs -o mode=755 none {closed[0]}; "
        f"mkdir -p {folder}; mount --move {place} {folder}"
    )


@pytest.mark.parametrize(("prb", "code", "loads"), [("107", 2, False), ("24", 0, True)])
def test_only_what_is_run_loads_what_its_report_needs(
    kernel: Path, tmp_path: Path, prb: str, code: int, loads: bool
) -> None:
    # In one piece, as the first thread prints at the same time.
    marked = "import sys; from ddu import api; api.prepare = lambda: sys.stdout.write('loading\\n')"
    words = ["--cc", "cubic", "--duration", "1s", "--prb", prb, "--output", tmp_path]
    said = command("ccu", "run", "--testbed", "virtual", *words, changed=marked)
    assert said.returncode == code, said.stderr
    assert ("loading\n" in said.stdout) is loads
