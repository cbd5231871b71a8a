# SPDX-License-Identifier: Apache-2.0
"""Campaigns of several runs at a time: nothing is lost, repeated, or left running."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from ccu.campaigns.analyst import Analyst
from ccu.campaigns.engines.job import Job, perform
from ccu.cli.certificates import make
from ccu.spec.experiment import Experiment
from testsupport import nap_testbed
from testsupport.prepared import BIN, Started
from testsupport.waiting import until

TEXT = """\
title: Naps
base: {{testbed: nap, cc: cubic, duration: {duration}}}
factors: {{prb: {prb}}}
repeats: {repeats}
retries: 1
"""


class Naps:
    """A campaign of naps, run by the command `ccu`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "campaign-naps-only"
        packages = nap_testbed.install(folder / "packages")
        self.environment = {"PYTHONPATH": str(packages), "COLUMNS": "160"}

    def write(self, prb: str = "[24, 106]", repeats: int = 2, duration: str = "1s") -> Path:
        file = self.folder / "naps.yaml"
        file.write_text(TEXT.format(prb=prb, repeats=repeats, duration=duration))
        return file

    def start(self, *words: object) -> Started:
        """Start `ccu WORDS` in a session of its own, as a terminal does."""
        session = "import os; os.setsid()"
        return Started("ccu", *words, environment=self.environment, changed=session)

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.start("campaign", *words).result()

    def run_as_users_do(self, *words: object) -> subprocess.CompletedProcess[str]:
        """The same, with processes of runs that are spawned, where tests otherwise fork them."""
        started = [BIN / "ccu", "campaign", *map(str, words)]
        environment = os.environ | self.environment
        return subprocess.run(started, env=environment, capture_output=True, text=True)

    def begin(self, *words: object) -> Started:
        """Start a campaign of long naps, and wait until two are asleep."""
        file = self.write(duration="30s")
        process = self.start("campaign", "run", file, "--output", self.folder, "--jobs", 2, *words)
        until(lambda: len(asleep(process.pid)) >= 2, process)
        return process

    def contents(self) -> list[dict[str, Any]]:
        files = sorted(self.path.glob("runs/*/*/run.json"))
        return [json.loads(file.read_text()) for file in files]

    def states(self) -> Counter[str]:
        return Counter(content["status"] for content in self.contents())


def asleep(pid: int) -> list[psutil.Process]:
    """The naps that a process has below it."""
    try:
        return napping(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def napping(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are naps now; any of the processes may end meanwhile."""
    naps = []
    for one in processes:
        with suppress(psutil.NoSuchProcess):
            if one.is_running() and one.name() == "sleep":
                naps.append(one)
    return naps


@pytest.fixture
def naps(tmp_path: Path) -> Naps:
    return Naps(tmp_path)


def most_at_once(path: Path) -> int:
    """The most naps that overlapped."""
    spans = [file.read_text().split() for file in path.glob("runs/*/*/raw/slept.txt")]
    changes = sorted(change for begin, end in spans for change in ((int(begin), 1), (int(end), -1)))
    count = most = 0
    for _, change in changes:
        count += change
        most = max(most, count)
    return most


@pytest.mark.parametrize(("jobs", "run"), [(1, Naps.run), (3, Naps.run_as_users_do)])
def test_as_many_runs_at_a_time_as_asked(
    naps: Naps, jobs: int, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = run(naps, "run", naps.write(), "--output", naps.folder, "--jobs", jobs)
    assert done.returncode == 0, done.stderr
    assert naps.states() == {"finished": 4}
    # How many naps overlap depends on how busy the machine is.
    assert min(jobs, 2) <= most_at_once(naps.path) <= jobs
    assert done.stdout.count("start ") == 4
    assert "[4/4] valid" in done.stdout


def test_by_default_as_many_as_there_are_cores(naps: Naps) -> None:
    plan = naps.run("plan", naps.write(), "--output", naps.folder)
    cores = len(os.sched_getaffinity(0))
    assert f"{'one run' if cores == 1 else f'{cores} runs'} at a time" in " ".join(
        plan.stdout.split()
    )


def test_a_failing_run_is_tried_again_and_the_others_go_on(naps: Naps) -> None:
    file = naps.write(prb=f"[24, {nap_testbed.BAD}]", repeats=2)
    done = naps.run("run", file, "--output", naps.folder, "--jobs", 2)
    assert done.returncode == 1
    assert "2 of 4 runs have no result" in done.stderr
    # Once, and once again (`retries: 1`).
    assert naps.states() == {"finished": 2, "failed": 4}
    assert done.stdout.count("nap: a bad dream") >= 2


def test_an_error_of_the_machine_costs_a_run_one_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crowded(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files", "/proc/1/stat")

    monkeypatch.setattr("ccu.runs.run.run", crowded)
    experiment = Experiment.model_construct()
    ended = perform(Job(experiment, tmp_path, "raw"), lambda _, __: None, Analyst())
    assert (ended.error, ended.defect) == ("[Errno 24] Too many open files: '/proc/1/stat'", None)


def test_several_campaigns_in_a_row(naps: Naps) -> None:
    first = naps.write(repeats=1)
    second = naps.folder / "more.yaml"
    second.write_text(first.read_text())
    done = naps.run("run", first, second, "--output", naps.folder, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert [len(list(naps.folder.glob(f"campaign-{name}-only/runs/*/*/run.json")))
            for name in ("naps", "more")] == [2, 2]  # fmt: skip
    planned = naps.run("plan", first, second, "--output", naps.folder)
    assert "2 campaigns" in planned.stdout
    (total,) = (line for line in planned.stdout.splitlines() if "2 campaigns" in line)
    assert total.split()[2:4] == ["4", "4"]


def test_all_campaigns_that_have_no_such_profile(naps: Naps) -> None:
    refused = naps.run("plan", "--all", "--profile", "none-has-it")
    assert refused.returncode == 2
    assert "no campaign has a profile 'none-has-it'" in refused.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_ends_its_runs_and_is_resumed(
    naps: Naps, sent: signal.Signals
) -> None:
    process = naps.begin()
    below = psutil.Process(process.pid).children(recursive=True)
    # As a terminal does with Ctrl-C: to all processes of the group.
    os.killpg(process.pid, sent)
    ended = process.result()
    assert ended.returncode == 130
    assert "stopped; resume with: ccu campaign resume" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert napping(below) == []
    assert naps.states() == {"interrupted": 2}
    waiting = naps.run("status", naps.path)
    assert "0 of 4 runs" in waiting.stdout


def test_a_killed_campaign_leaves_nothing_running(naps: Naps) -> None:
    process = naps.begin()
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.result()
    _, alive = psutil.wait_procs(below, timeout=600)
    assert alive == []
    assert naps.states()["finished"] == 0


def test_a_killed_process_of_a_run_costs_that_run_only(naps: Naps) -> None:
    process = naps.begin()
    victim = asleep(process.pid)[0].parent()
    assert victim is not None
    victim.kill()
    until(lambda: naps.states()["failed"] > 0)
    assert naps.states()["running"] >= 1
    os.killpg(process.pid, signal.SIGINT)
    assert "its process was killed by SIGKILL" in process.result().stdout
    killed = [one for one in naps.contents() if one["status"] == "failed"]
    assert killed[0]["failure"]["stage"] == "ccu"


def test_what_cannot_be_analysed_keeps_its_raw_data_and_says_so(naps: Naps) -> None:
    file = naps.write(prb=f"[{nap_testbed.BROKEN}]", repeats=1)
    done = naps.run("run", file, "--output", naps.folder, "--keep", "summary")
    assert done.returncode == 0, done.stderr
    assert "its raw data stay, as it cannot be analysed" in done.stdout
    (content,) = naps.contents()
    assert "kept" not in content
    assert len(list(naps.path.glob("runs/*/*/raw/sender.pcap"))) == 1


@pytest.mark.slow
def test_a_worker_does_as_many_at_a_time_as_it_has_cores(naps: Naps) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, tls = f"tls://127.0.0.1:{port}", naps.folder / "tls"
    make(tls, days=1)
    where = ["--host", "127.0.0.1", "--port", port, "--no-dashboard", "--protocol", "tls"]
    for option, file in (("ca-file", "ca"), ("cert", "cert"), ("key", "key")):
        where += [f"--tls-{option}", tls / f"{file}.pem"]
    cluster = ["--scheduler", address, "--tls", tls]
    offered = ["worker", *cluster, "--testbeds", 0, "--cores", 3]
    log = naps.folder / "scheduler.log"
    with log.open("w") as written:
        scheduler = subprocess.Popen(
            [BIN / "dask", "scheduler", *map(str, where)], env=os.environ | naps.environment,
            stdout=subprocess.DEVNULL, stderr=written, start_new_session=True,
        )  # fmt: skip
    worker = naps.start(*offered)
    try:
        until(lambda: "Register worker" in log.read_text(), worker)
        file, into = naps.write(duration="3s"), ["--output", naps.folder]
        done = naps.run("run", file, *into, "--engine", "dask", *cluster)
    finally:
        for process in (worker, scheduler):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(600)
    assert done.returncode == 0, done.stderr
    assert naps.states() == {"finished": 4}
    assert 1 < most_at_once(naps.path) <= 3


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["--jobs", "0"], "--jobs"),
        (["--keep", "everything"], "--keep"),
        (["--jobs", "2", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"], "--jobs"),
    ],
)
def test_wrong_input_is_refused(naps: Naps, words: list[str], printed: str) -> None:
    refused = naps.run("run", naps.write(), "--output", naps.folder, *words)
    assert refused.returncode == 2
    assert printed in refused.stderr
    assert not naps.path.exists()


def test_runs_in_real_time_are_one_at_a_time(naps: Naps) -> None:
    file = naps.write()
    file.write_text(file.read_text().replace("testbed: nap", "testbed: emulated"))
    refused = naps.run("plan", file, "--output", naps.folder, "--jobs", "2")
    assert refused.returncode == 2
    assert "--jobs: runs on the testbed emulated at the same time would disturb" in refused.stderr
