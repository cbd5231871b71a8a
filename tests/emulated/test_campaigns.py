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
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from ccu.campaigns import definition, live
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
from testsupport.prepared import BIN, Started, command
from testsupport.store_server import fresh_store, reader_url

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
        until = written(tmp_path) + generator.randint(1, 2 * FILES_OF_A_RUN)
        killed = Started("ccu", "campaign", "run", file, "--output", tmp_path)
        while killed.poll() is None and written(tmp_path) < until:
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
        "ccu", "run", "--testbed", "emulated", "--cc", "reno", "--duration", "1s", "--scenario",
        "static", "--buffer", "80pkt", "--seed", "9", "--output", str(tmp_path / "first"),
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


class Hosts:
    """Network namespaces in the role of machines, with a switch between them, at 10.98.7.N."""

    def __init__(self, count: int) -> None:
        self.names = [f"ccutest-{os.getpid()}-{number}" for number in range(count)]
        self._folder = tempfile.TemporaryDirectory()
        self.certificates = Certificates(Path(self._folder.name, "tls"))
        make(self.certificates.folder, days=1)
        for number, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            if number == 0:
                ip("-n", name, "link", "add", "switch", "type", "bridge")
                ip("-n", name, "address", "add", "10.98.7.1/24", "dev", "switch")
                ip("-n", name, "link", "set", "switch", "up")
                continue
            port = f"port{number}"
            peer = ["peer", "name", port, "netns", self.names[0]]
            ip("-n", name, "link", "add", "net", "type", "veth", *peer)
            ip("-n", name, "address", "add", f"10.98.7.{number + 1}/24", "dev", "net")
            ip("-n", name, "link", "set", "net", "up")
            ip("-n", self.names[0], "link", "set", port, "master", "switch", "up")

    def start(self, host: int, *arguments: str) -> subprocess.Popen[bytes]:
        # Only the network is the host's: run directories of namespaces stay in sight.
        entered = ["nsenter", f"--net=/run/netns/{self.names[host]}"]
        # What they say is shown by pytest if the test fails.
        return subprocess.Popen([*entered, *arguments], start_new_session=True)

    def listeners(self, host: int) -> set[tuple[str, int]]:
        """Return the addresses and ports where something listens for TCP on a host."""
        entered = ["ip", "netns", "exec", self.names[host]]
        lines = subprocess.run(
            [*entered, "ss", "-Hltn"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        ends = [line.split()[3].rpartition(":") for line in lines]
        return {(address, int(port)) for address, _, port in ends}

    def remove(self) -> None:
        for name in self.names:
            ip("netns", "del", name)
        self._folder.cleanup()


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> None:
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    process.wait(600)


SCHEDULER = "tls://10.98.7.1:8786"


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[tuple[Hosts, list[subprocess.Popen[bytes]]]]:
    """A scheduler on host 0 and a worker on each of the others."""
    hosts = Hosts(workers + 1)
    running = []
    try:
        options = ["--host", "10.98.7.1", "--tls", str(hosts.certificates.folder)]
        running.append(hosts.start(0, str(BIN / "ccu"), "scheduler", *options))
        for number in range(workers):
            options = ["--scheduler", SCHEDULER, "--tls", str(hosts.certificates.folder)]
            running.append(hosts.start(number + 1, str(BIN / "ccu"), "worker", *options))
        yield hosts, running[1:]
    finally:
        for process in running:
            end(process)
        hosts.remove()


def on_workers(hosts: Hosts, *arguments: object) -> subprocess.Popen[bytes]:
    """Start `ccu campaign ARGUMENTS` on host 0, whose runs the workers do."""
    return hosts.start(0, str(BIN / "ccu"), "campaign", *map(str, arguments), *engine(hosts))


def engine(hosts: Hosts) -> list[str]:
    """Return the options of `ccu campaign` for the cluster."""
    tls = str(hosts.certificates.folder)
    return ["--engine", "dask", "--scheduler", SCHEDULER, "--tls", tls]


def wait_for_workers(hosts: Hosts, count: int) -> None:
    """Wait until the scheduler knows so many workers."""
    # Before it listens nobody answers, and `connect` does not wait.
    while 8786 not in {port for _, port in hosts.listeners(0)}:
        time.sleep(0.1)
    asked = (
        "from ddu.campaign import cluster; from pathlib import Path; "
        f"client = cluster.connect('{SCHEDULER}', Path('{hosts.certificates.folder}')); "
        f"client.wait_for_workers({count}, timeout=60)"
    )
    assert hosts.start(0, str(BIN / "python"), "-c", asked).wait(600) == 0


@pytest.fixture(scope="module")
def store() -> Iterator[StoreDirectory]:
    with fresh_store() as place:
        yield place


def live_and_published(store: StoreDirectory) -> tuple[int, int]:
    """The live and the published runs of the store."""
    with psycopg.connect(reader_url(store)) as reader:
        states = [row[0] for row in reader.execute("SELECT state FROM testbed.run")]
    return states.count("live"), states.count("published")


def known_campaigns(store: StoreDirectory) -> list[str]:
    """Return the campaigns that the store knows."""
    with psycopg.connect(reader_url(store)) as reader:
        return [row[0] for row in reader.execute("SELECT name FROM testbed.campaign")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_give_the_results_of_one_machine_and_are_seen_live(
    tmp_path: Path, file: Path, store: StoreDirectory, workers: int
) -> None:
    campaign = tmp_path / "campaign-short-only"
    file.write_text(FILE.replace("duration: 1s", "duration: 4s"))
    Folder.make(campaign, definition.read(file))
    most_live = 0
    with connected(store.url()) as connection:
        migrate(connection)
        connection.execute("TRUNCATE testbed.run, testbed.campaign CASCADE")
    with cluster(workers) as (hosts, _):
        follow = [BIN / "ddu", "publish", "--live", campaign, "--store", store.url()]
        with subprocess.Popen(follow, stderr=subprocess.PIPE, text=True) as follower:
            # Runs begin when somebody looks, however long that takes.
            while not known_campaigns(store):
                assert follower.poll() is None
                time.sleep(0.1)
            wait_for_workers(hosts, workers)
            running = on_workers(hosts, "resume", campaign)
            while running.poll() is None:
                most_live = max(most_live, live_and_published(store)[0])
                time.sleep(0.1)
            assert running.returncode == 0
            _, printed = follower.communicate(timeout=600)
    assert follower.returncode == 0, printed
    assert most_live >= 2, printed
    assert live_and_published(store) == (0, len(list(campaign.glob("runs/*/*/run.json"))))
    assert results(campaign) == EVERY
    for cell, content in experiments(campaign).items():
        ran = json.loads(content)
        assert cell == f"prb={ran['prb']},seed={ran['seed']}"
        assert ran["duration_s"] == 4.0


def test_a_worker_without_shared_storage_publishes_its_runs(
    tmp_path: Path, store: StoreDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DDU_STORE", store.url())
    # `ddu` yields to what runs beside it, and would start too late on a busy machine. The run is
    # long for that reason as well, and cheap.
    monkeypatch.setattr(live, "_LEAST_PRIORITY", 0)
    experiment = resolve(
        {"testbed": "emulated", "traffic": "udp:1M", "duration": "40s", "scenario": "static"}
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
        rows = 0
        while not performing.done():
            with psycopg.connect(reader_url(store)) as reader:
                (shown,) = reader.execute(
                    "SELECT count(*) FROM testbed.live_radio JOIN testbed.run USING (run_id) "
                    "WHERE name LIKE 'far/cc=cubic,seed=1/%'"
                ).fetchall()
            rows = max(rows, shown[0])
            time.sleep(0.1)
    done = performing.result()
    assert (done.ended, rows > 20) == (Ended(), True)
    # What comes back is published in the place of what was shown.
    assert done.archive is not None
    with tarfile.open(fileobj=io.BytesIO(done.archive)) as packed:
        packed.extractall(cell, filter="data")
    Folder.make(tmp_path / "campaign-far-only", campaign)
    (run,) = cell.iterdir()
    assert publish(store.url(), run).name == f"far/cc=cubic,seed=1/{run.name}"
    with psycopg.connect(reader_url(store)) as reader:
        states = reader.execute("SELECT state FROM testbed.run WHERE name LIKE 'far/%'").fetchall()
    assert states == [("published",)]


@pytest.mark.slow
def test_the_runs_of_a_killed_worker_are_repeated_elsewhere(
    tmp_path: Path, file: Path, ours: Callable[[], set[str]]
) -> None:
    before = ours()
    with cluster(2) as (hosts, workers):
        wait_for_workers(hosts, 2)
        running = on_workers(hosts, "run", file, "--output", tmp_path)
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob("campaign-short-only/runs/*/*/run.json")):
            assert time.monotonic() < deadline, "no run begins"
            time.sleep(0.1)
        end(workers[0], signal.SIGKILL)
        assert running.wait(600) == 0
    assert results(tmp_path / "campaign-short-only") == EVERY
    assert command("ccu", "clean").returncode == 0
    assert ours() == before


@pytest.fixture(scope="module")
def idle_cluster() -> Iterator[Hosts]:
    """A cluster of one worker, which does no run."""
    with cluster(1) as (hosts, _):
        wait_for_workers(hosts, 1)
        yield hosts


def test_a_worker_with_other_software_is_refused_with_both_versions(
    tmp_path: Path, file: Path, idle_cluster: Hosts
) -> None:
    pretend = (
        "import ccu.campaigns.engines.remote as remote, sys; "
        "remote.software = lambda: 'ccu 9.9 at elsewhere'; "
        "from ccu.cli.main import main; main()"
    )
    entered = ["nsenter", f"--net=/run/netns/{idle_cluster.names[0]}", str(BIN / "python"), "-c"]
    arguments = ["campaign", "run", str(file), "--output", str(tmp_path)]
    printed = subprocess.run(
        [*entered, pretend, *arguments, *engine(idle_cluster)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert printed.returncode == 2
    assert "has ccu 0" in printed.stderr
    assert "this is ccu 9.9 at elsewhere" in printed.stderr


def test_a_cluster_listens_where_it_must_only_and_shows_no_pages(idle_cluster: Hosts) -> None:
    for host in (0, 1):
        listeners = idle_cluster.listeners(host)
        assert {address for address, _ in listeners} == {f"10.98.7.{host + 1}", "127.0.0.1"}
        pages = [port for address, port in listeners if address == "127.0.0.1"]
        assert pages
        for port in pages:
            with inside(idle_cluster.names[host]):
                browser = socket.create_connection(("127.0.0.1", port), 60)
            with browser:
                browser.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                assert browser.recv(100).startswith(b"HTTP/1.1 404")


def test_a_cluster_talks_to_holders_of_its_certificates_only(
    tmp_path: Path, idle_cluster: Hosts
) -> None:
    strangers = Certificates(tmp_path / "another-cluster")
    make(strangers.folder, days=1)
    for host in (0, 1):
        ports = [port for address, port in idle_cluster.listeners(host) if address != "127.0.0.1"]
        assert len(ports) == (1 if host == 0 else 2)  # the scheduler; the worker and its nanny
        for port in ports:
            where = (idle_cluster, host, port)
            assert heard(*where, with_tls(idle_cluster.certificates))
            assert not heard(*where, lambda plain: plain)
            assert not heard(*where, with_tls(None))
            assert not heard(*where, with_tls(strangers))


def with_tls(ours: Certificates | None) -> Callable[[socket.socket], socket.socket]:
    """Return a function that begins TLS, with or without a certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if ours:
        context.load_cert_chain(ours.certificate, ours.key)
    return context.wrap_socket


def heard(
    hosts: Hosts, host: int, port: int, begin: Callable[[socket.socket], socket.socket]
) -> bytes:
    """Return the first bytes of a member's greeting to a client on the other host."""
    with inside(hosts.names[1 - host]):
        plain = socket.create_connection((f"10.98.7.{host + 1}", port), 60)
    with contextlib.suppress(OSError), begin(plain) as client:
        if client is plain:
            client.sendall(bytes(1000))
        return client.recv(10)
    return b""


def test_a_missing_scheduler_is_reported_with_the_fix(tmp_path: Path, file: Path) -> None:
    printed = command(
        "ccu", "campaign", "run", str(file), "--output", str(tmp_path),
        "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1",
    )  # fmt: skip
    assert printed.returncode == 2
    assert "no scheduler answers" in printed.stderr
    assert "ccu worker" in printed.stderr
