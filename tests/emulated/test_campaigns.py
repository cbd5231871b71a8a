# SPDX-License-Identifier: Apache-2.0
"""Campaigns as users run them: killed at random times, on several workers, and reported."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
import pytest

from ccu.campaigns import definition
from ccu.campaigns.engines import remote
from ccu.campaigns.engines.job import Ended, Job
from ccu.campaigns.folder import Folder
from ccu.cli.campaign import check_names
from ccu.cli.certificates import make
from ccu.host.namespace import inside
from ccu.scenarios.resolve import resolve
from ddu.campaign.checks import problems_of
from ddu.campaign.cluster import Certificates
from ddu.campaign.definition import Campaign
from ddu.console.problems import RefusedError
from ddu.store.connect import connected
from ddu.store.directory import StoreDirectory
from ddu.store.publish import publish
from ddu.store.schema import migrate
from testsupport import held
from testsupport.prepared import BIN, Started, command
from testsupport.store_server import fresh_store, reader_url
from testsupport.waiting import until

FILE = """\
title: Short runs over a link that costs little
base: {testbed: emulated, duration: 1s, scenario: constant-100M, capture: false, traffic: "udp:1M"}
factors:
  prb: [24, 51, 106]
repeats: 2
# A shared machine may degrade a run; this test checks that no run is lost or repeated.
retries: 20
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes network namespaces")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "short.yaml"
    written.write_text(FILE)
    return written


def results(campaign: Path) -> Counter[str]:
    """Return how many results each cell has."""
    counts: Counter[str] = Counter()
    for run in campaign.glob("runs/*/*/run.json"):
        content = json.loads(run.read_text())
        if content["status"] == "finished" and content["verdict"] != "invalid":
            counts[run.parent.parent.name] += 1
    return counts


def experiments(campaign: Path) -> dict[str, str]:
    """Return the experiment of each cell's result."""
    return {
        run.parent.parent.name: json.dumps(json.loads(run.read_text())["experiment"])
        for run in campaign.glob("runs/*/*/run.json")
        if json.loads(run.read_text())["status"] == "finished"
    }


EVERY = {f"prb={prb},seed={seed}": 1 for prb in (24, 51, 106) for seed in (1, 2)}


def test_the_reports_of_the_projects_campaigns_can_be_made() -> None:
    for name in definition.library():
        for profile in ("quick", "full"):
            campaign = definition.read(definition.locate(name), profile)
            assert not problems_of(campaign)


@pytest.mark.parametrize(
    ("report", "printed"),
    [
        ("{compare: {factor: prb, baseline: 24}}", "report.compare: is not a list"),
        ("{figures: [{kind: plane}]}", "figures.0.plane.title: is missing. Add it"),
        ("{figures: [{kind: cdf, title: x, columns: [tcp_rtt]}]}", "no column 'tcp_rtt'"),
        ("{metrics: [rtt_ms.p59]}", "report.metrics: no metric 'rtt_ms.p59'. Did you mean"),
    ],
)
def test_an_invalid_report_is_refused(file: Path, report: str, printed: str) -> None:
    file.write_text(f"{FILE}report: {report}\n")
    with pytest.raises(RefusedError) as refused:
        check_names(definition.read(file))
    assert printed in str(refused.value)
    assert f"{file}:" in str(refused.value)


def test_an_invalid_report_is_refused_before_the_runs(tmp_path: Path, file: Path) -> None:
    file.write_text(f"{FILE}report: {{figures: [{{kind: plane, title: x, panels: [prbs]}}]}}\n")
    refused = command("ccu", "campaign", "run", str(file), "--output", str(tmp_path))
    assert refused.returncode == 2
    line = FILE.count("\n") + 1
    assert f"{file}:{line}: report.figures.0: no factor 'prbs'" in refused.stderr
    assert not list(tmp_path.glob("campaign-*"))


FILES_OF_A_RUN = 12


def written(folder: Path) -> int:
    """Return how many files and folders are below the folder."""
    return sum(len(files) + len(folders) for _, folders, files in os.walk(folder))


@pytest.mark.slow
def test_killed_ten_times_it_still_does_every_run_once(
    tmp_path: Path, file: Path, ours: Callable[[], set[str]]
) -> None:
    before = ours()
    generator = random.Random(1)
    campaign = tmp_path / "campaign-short-only"
    for _ in range(10):
        # Counted in files that the campaign has written, not in seconds: it is killed at any stage
        # of a run on a machine of any speed.
        most = written(tmp_path) + generator.randint(1, 2 * FILES_OF_A_RUN)
        killed = Started("ccu", "campaign", "run", file, "--output", tmp_path)
        while killed.poll() is None and written(tmp_path) < most:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    ended = command("ccu", "campaign", "resume", str(campaign), timeout_s=600)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert results(campaign) == EVERY
    assert command("ccu", "clean").returncode == 0
    assert ours() == before
    status = command("ccu", "campaign", "status", str(campaign))
    assert "6 of 6 runs, nothing left" in status.stdout


def test_a_run_is_repeated_from_its_manifest(tmp_path: Path) -> None:
    made = command(
        "ccu", "run", "--no-report", "--testbed", "emulated", "--cc", "reno", "--duration", "1s",
        "--scenario", "static", "--buffer", "80pkt", "--seed", "9",
        "--output", str(tmp_path / "first"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    (first,) = (tmp_path / "first").iterdir()
    again = command("ccu", "rerun", str(first), "--output", str(tmp_path / "second"))
    assert again.returncode == 0, again.stderr
    (second,) = (tmp_path / "second").iterdir()
    assert experiment(second) == experiment(first)
    # The scenario that was played is kept, should the library's have another form by now.
    played = first / "raw" / "scenario.yaml"
    played.write_text(played.read_text() + "# As it was once.\n")
    shown = command("ccu", "rerun", str(first), "--dry-run")
    assert f"scenario: {played}" in shown.stdout


def experiment(run: Path) -> object:
    return json.loads((run / "run.json").read_text())["experiment"]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> None:
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    process.wait(600)


SCHEDULER = "tls://10.98.7.1:8786"


@dataclass(frozen=True)
class Member:
    """A network namespace in the role of a machine, and what runs on it."""

    network: str
    address: str
    process: subprocess.Popen[bytes]

    def listeners(self) -> set[tuple[str, int]]:
        """Return the addresses and ports where something listens for TCP."""
        lines = subprocess.run(
            ["ip", "netns", "exec", self.network, "ss", "-Hltn"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        ends = [line.split()[3].rpartition(":") for line in lines]
        return {(address, int(port)) for address, _, port in ends}


class Cluster:
    """A scheduler, and workers on machines of their own, with a switch between them at 10.98.7.N.

    Runs of the workers end only while the file `let_end` is there."""

    def __init__(self, folder: Path) -> None:
        self.certificates = Certificates(folder / "tls")
        make(self.certificates.folder, days=1)
        self.let_end = folder / "let-runs-end"
        self.let_end.touch()
        self._holding = held.in_children(self.let_end, folder)
        self._networks: list[str] = []
        self._started: list[Member] = []
        self._log = folder / "scheduler.log"
        network = self._add_network()
        ip("-n", network, "link", "add", "switch", "type", "bridge")
        ip("-n", network, "address", "add", "10.98.7.1/24", "dev", "switch")
        ip("-n", network, "link", "set", "switch", "up")
        with self._log.open("wb") as log:
            self._start(network, "scheduler", "--host", "10.98.7.1", log=log)

    @property
    def scheduler(self) -> Member:
        return self._started[0]

    def workers(self, count: int) -> list[Member]:
        """Return the workers that run, at least `count`."""
        while len(self._running_workers()) < count:
            number = len(self._networks) + 1
            network, port = self._add_network(), f"port{number}"
            ip("-n", network, "link", "add", "net", "type", "veth",
               "peer", "name", port, "netns", self.scheduler.network)  # fmt: skip
            ip("-n", network, "address", "add", f"10.98.7.{number}/24", "dev", "net")
            ip("-n", network, "link", "set", "net", "up")
            ip("-n", self.scheduler.network, "link", "set", port, "master", "switch", "up")
            self._start(network, "worker", "--scheduler", SCHEDULER)
        joined = len(self._started) - 1
        until(lambda: self._log.read_text().count("Register worker") >= joined)
        return self._running_workers()

    def campaign(self, *arguments: object, changed: str = "") -> Started:
        """Start `ccu campaign ARGUMENTS` on the scheduler's machine; the workers do its runs."""
        tls = ("--tls", self.certificates.folder)
        words = ("campaign", *arguments, "--engine", "dask", "--scheduler", SCHEDULER, *tls)
        return Started("ccu", *words, network=self.scheduler.network, changed=changed)

    def end(self) -> None:
        for member in self._started:
            end(member.process)
        for network in self._networks:
            ip("netns", "del", network)

    def _running_workers(self) -> list[Member]:
        return [worker for worker in self._started[1:] if worker.process.poll() is None]

    def _add_network(self) -> str:
        network = f"ccutest-{os.getpid()}-{len(self._networks)}"
        ip("netns", "add", network)
        self._networks.append(network)
        ip("-n", network, "link", "set", "lo", "up")
        return network

    def _start(self, network: str, *words: str, log: IO[bytes] | None = None) -> None:
        # Only the network is the machine's: run directories of namespaces stay in sight.
        entered = ["nsenter", f"--net=/run/netns/{network}", str(BIN / "ccu")]
        # What they print is shown by pytest if the test fails.
        process = subprocess.Popen(
            [*entered, *words, "--tls", str(self.certificates.folder)],
            start_new_session=True,
            stderr=log,
            env={**os.environ, **self._holding},
        )
        self._started.append(Member(network, f"10.98.7.{len(self._networks)}", process))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def store() -> Iterator[StoreDirectory]:
    with fresh_store() as place:
        yield place


@pytest.fixture(scope="module")
def reader(store: StoreDirectory) -> Iterator[psycopg.Connection]:
    with psycopg.connect(reader_url(store), autocommit=True) as connection:
        yield connection


def live_and_published(reader: psycopg.Connection) -> tuple[int, int]:
    """Return how many live and published runs the store has."""
    states = [row[0] for row in reader.execute("SELECT state FROM testbed.run")]
    return states.count("live"), states.count("published")


def known_campaigns(reader: psycopg.Connection) -> list[str]:
    """Return the campaigns that the store knows."""
    return [row[0] for row in reader.execute("SELECT name FROM testbed.campaign")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_give_the_results_of_one_machine_and_are_seen_live(
    tmp_path: Path,
    file: Path,
    store: StoreDirectory,
    reader: psycopg.Connection,
    cluster: Cluster,
    workers: int,
) -> None:
    campaign = tmp_path / "campaign-short-only"
    Folder.make(campaign, definition.read(file))
    with connected(store.url()) as connection:
        migrate(connection)
        connection.execute("TRUNCATE testbed.run, testbed.campaign CASCADE")
    assert len(cluster.workers(workers)) == workers
    follower = Started("ddu", "publish", "--live", campaign, "--store", store.url())
    # Runs begin when somebody looks, however long that takes.
    until(lambda: known_campaigns(reader), follower)
    cluster.let_end.unlink()
    try:
        running = cluster.campaign("resume", campaign)
        until(lambda: live_and_published(reader)[0] == workers, running)
    finally:
        cluster.let_end.touch()
    assert running.wait() == 0, running.printed
    assert follower.wait() == 0, follower.printed
    assert live_and_published(reader) == (0, len(list(campaign.glob("runs/*/*/run.json"))))
    assert results(campaign) == EVERY
    for cell, content in experiments(campaign).items():
        ran = json.loads(content)
        assert cell == f"prb={ran['prb']},seed={ran['seed']}"
        assert ran["duration_s"] == 1.0


def test_a_worker_without_shared_storage_publishes_its_runs(
    tmp_path: Path,
    store: StoreDirectory,
    reader: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DDU_STORE", store.url())
    # The run's process imports it when it starts: the run waits until it was seen.
    seen = tmp_path / "seen"
    for name, value in held.in_children(seen, tmp_path).items():
        monkeypatch.setenv(name, value)
    experiment = resolve(
        {"testbed": "emulated", "traffic": "udp:1M", "duration": "1s", "scenario": "static"}
    )
    campaign = Campaign.model_validate(
        {"name": "far", "title": "Far", "factors": {"cc": ["cubic"]}}
    )
    cell = tmp_path / "campaign-far-only" / "runs" / "cc=cubic,seed=1"
    job = remote.RemoteJob(
        Job(experiment, cell, "raw"),
        campaign,
        token=str(tmp_path / "no-such-token"),
        software=remote.software(),
        testbeds={},
    )
    with ThreadPoolExecutor() as pool:
        performing = pool.submit(remote.perform, job)
        shown = (
            "SELECT count(*) FROM testbed.live_radio JOIN testbed.run USING (run_id) "
            "WHERE name LIKE 'far/cc=cubic,seed=1/%'"
        )
        try:
            until(lambda: performing.done() or reader.execute(shown).fetchall()[0][0] > 20)
            was_shown = not performing.done()
        finally:
            seen.touch()
    done = performing.result()
    assert done.ended == Ended()
    assert was_shown
    # What comes back is published in the place of what was shown.
    assert done.archive is not None
    with tarfile.open(fileobj=io.BytesIO(done.archive)) as packed:
        packed.extractall(cell, filter="data")
    Folder.make(tmp_path / "campaign-far-only", campaign)
    (run,) = cell.iterdir()
    assert publish(store.url(), run).name == f"far/cc=cubic,seed=1/{run.name}"
    states = reader.execute("SELECT state FROM testbed.run WHERE name LIKE 'far/%'").fetchall()
    assert states == [("published",)]


@pytest.mark.slow
def test_the_runs_of_a_killed_worker_are_repeated_elsewhere(
    tmp_path: Path, file: Path, cluster: Cluster, ours: Callable[[], set[str]]
) -> None:
    before = ours()
    workers = cluster.workers(2)
    running = cluster.campaign("run", file, "--output", tmp_path)
    until(lambda: list(tmp_path.glob("campaign-short-only/runs/*/*/run.json")), running)
    end(workers[0].process, signal.SIGKILL)
    assert running.wait() == 0, running.printed
    assert results(tmp_path / "campaign-short-only") == EVERY
    assert command("ccu", "clean").returncode == 0
    assert ours() == before


def test_a_worker_with_other_software_is_refused_with_both_versions(
    tmp_path: Path, file: Path, cluster: Cluster
) -> None:
    cluster.workers(1)
    pretend = (
        "import ccu.campaigns.engines.remote as remote; "
        "remote.software = lambda: 'ccu 9.9 at elsewhere'"
    )
    printed = cluster.campaign("run", file, "--output", tmp_path, changed=pretend).result()
    assert printed.returncode == 2
    assert f"has {remote.software()}" in printed.stderr
    assert "this is ccu 9.9 at elsewhere" in printed.stderr


def test_a_cluster_listens_where_it_must_only_and_shows_no_pages(cluster: Cluster) -> None:
    for member in (cluster.workers(1)[0], cluster.scheduler):
        listeners = member.listeners()
        assert {address for address, _ in listeners} == {member.address, "127.0.0.1"}
        pages = [port for address, port in listeners if address == "127.0.0.1"]
        assert pages
        for port in pages:
            with inside(member.network):
                browser = socket.create_connection(("127.0.0.1", port), 60)
            with browser:
                browser.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                assert browser.recv(100).startswith(b"HTTP/1.1 404")


def test_a_cluster_talks_to_holders_of_its_certificates_only(
    tmp_path: Path, cluster: Cluster
) -> None:
    strangers = Certificates(tmp_path / "another-cluster")
    make(strangers.folder, days=1)
    worker, scheduler = cluster.workers(1)[0], cluster.scheduler
    for member, other in ((worker, scheduler), (scheduler, worker)):
        ports = [port for address, port in member.listeners() if address != "127.0.0.1"]
        assert len(ports) == (2 if member is worker else 1)  # a worker has its nanny
        for port in ports:
            ends = (other, member, port)
            assert heard(*ends, with_tls(cluster.certificates))
            assert not heard(*ends, lambda plain: plain)
            assert not heard(*ends, with_tls(None))
            assert not heard(*ends, with_tls(strangers))


def with_tls(ours: Certificates | None) -> Callable[[socket.socket], socket.socket]:
    """Return a function that begins TLS, with or without a certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if ours:
        context.load_cert_chain(ours.certificate, ours.key)
    return context.wrap_socket


def heard(
    client: Member, member: Member, port: int, begin: Callable[[socket.socket], socket.socket]
) -> bytes:
    """Return the first bytes of a member's greeting to a client on another member's machine."""
    with inside(client.network):
        plain = socket.create_connection((member.address, port), 60)
    with contextlib.suppress(OSError), begin(plain) as connection:
        if connection is plain:
            connection.sendall(bytes(1000))
        return connection.recv(10)
    return b""


def test_a_missing_scheduler_is_reported_with_the_fix(tmp_path: Path, file: Path) -> None:
    assert command("ccu", "certificates", str(tmp_path / "tls")).returncode == 0
    printed = command(
        "ccu", "campaign", "run", str(file), "--output", str(tmp_path),
        "--engine", "dask", "--scheduler", "tls://127.0.0.1:1", "--tls", str(tmp_path / "tls"),
    )  # fmt: skip
    assert printed.returncode == 2
    assert "no scheduler answers" in printed.stderr
    assert "ccu worker" in printed.stderr
