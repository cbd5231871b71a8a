# SPDX-License-Identifier: Apache-2.0
"""Checks of who may become a member of a cluster, and of where its members listen."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ccu.campaigns.engines import members
from ccu.cli.certificates import make
from ccu.cli.scheduler import scheduler
from ccu.cli.worker import worker
from ccu.host import programs, resources, root
from ddu import interpreter
from ddu.campaign import cluster
from ddu.campaign.cluster import Certificates
from ddu.console.problems import RefusedError
from testsupport import hostile
from testsupport.prepared import BIN
from testsupport.waiting import until


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster") / "tls"
    make(folder, days=1)
    return folder


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster.os, "geteuid", lambda: 0)
    monkeypatch.setattr(root.os, "geteuid", lambda: 0)


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "os", SimpleNamespace(geteuid=lambda: 1000))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the command line that replaces this process, once it does."""
    command: list[str] = []

    def execute(_path: str, words: list[str]) -> None:
        before = interpreter.of_package(members.PROGRAM)
        assert words[: len(before)] == before
        command.extend(words[len(before) :])

    monkeypatch.setattr(members.os, "execv", execute)
    monkeypatch.setattr(programs, "require", lambda name: name)
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "ccu")
    monkeypatch.setattr(resources.os, "geteuid", os.geteuid)
    for name in (*members._ENVIRONMENT, "DASK_TEMPORARY_DIRECTORY"):
        monkeypatch.setenv(name, "")
    return command


@pytest.fixture
def serving() -> Iterator[Callable[[Certificates], str]]:
    """Return a function that lets a member with these certificates greet one client."""
    with ExitStack() as stack:

        def serve(ours: Certificates) -> str:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(ours.authority)
            context.load_cert_chain(ours.certificate, ours.key)
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def greet() -> None:
                with suppress(OSError), context.wrap_socket(listener.accept()[0], True) as client:
                    client.sendall(b"greeting")

            thread = threading.Thread(target=greet)
            thread.start()
            stack.callback(thread.join)
            stack.callback(listener.shutdown, socket.SHUT_RDWR)  # Nobody may have come.
            return f"tls://127.0.0.1:{listener.getsockname()[1]}"

        yield serve


def value(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def refused(action: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(RefusedError) as error:
        action(*arguments, **options)
    return str(error.value)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("host", ["10.0.0.1", "0.0.0.0", "[2001:db8::1]"])
def test_root_talks_to_no_other_machine_without_tls(host: str, started: list[str]) -> None:
    plain = f"tcp://{host}:8786"
    for said in (
        refused(worker, plain, testbeds=1),
        refused(cluster.connect, plain),
        refused(scheduler, host.strip("[]"), 8786),
    ):
        assert (
            f"{plain} is on the network and without TLS: whoever reaches it would be root" in said
        )
        assert "`ccu certificates DIR`" in said
    assert not started


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_root_talks_to_no_other_user_without_tls(host: str, started: list[str]) -> None:
    """Every user of the machine reaches the loopback."""
    plain = f"tcp://{host}:8786"
    for said in (
        refused(worker, plain, testbeds=1),
        refused(worker, plain, testbeds=0, cores=1),
        refused(cluster.connect, plain),
        refused(scheduler, host.strip("[]"), 8786),
    ):
        assert f"{plain} is without TLS: every user of this machine would be root" in said
        assert "`ccu certificates DIR`" in said
    assert not started


@pytest.mark.usefixtures("as_root")
def test_a_worker_of_root_listens_where_the_scheduler_is_reached(
    tls: Path, started: list[str]
) -> None:
    worker("tls://127.0.0.1:8786", testbeds=1, cores=0, tls=tls)
    assert started[:2] == ["worker", "tls://127.0.0.1:8786"]
    assert value(started, "--host") == "127.0.0.1"
    assert value(started, "--dashboard-address") == "127.0.0.1:0"
    assert value(started, "--tls-ca-file") == str(tls / "ca.pem")
    assert value(started, "--tls-cert") == str(tls / "cert.pem")
    assert value(started, "--tls-key") == str(tls / "key.pem")
    # Dask executes what lies there, and would take another user's folder in /tmp.
    scratch = Path(os.environ["DASK_TEMPORARY_DIRECTORY"])
    assert scratch.parent == resources.FOLDER
    assert not scratch.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_a_worker_of_another_cluster_is_told_so(
    tls: Path, tmp_path: Path, serving: Callable[[Certificates], str], started: list[str]
) -> None:
    """Dask prints a traceback of 92 lines."""
    make(tmp_path / "another", days=1)
    scheduler = serving(Certificates(tmp_path / "another"))
    said = refused(worker, scheduler, testbeds=0, cores=1, tls=tls)
    assert f"--tls: {scheduler} is not a member of the cluster of {tls} (" in said
    assert not started
    # The scheduler's certificate is ours, and its authority, which is to know ours, is another.
    mixed = Certificates(shutil.copytree(tls, tmp_path / "mixed"))
    shutil.copy(tmp_path / "another" / "ca.pem", mixed.authority)
    assert "is not a member" in refused(worker, serving(mixed), testbeds=0, cores=1, tls=tls)
    worker(serving(Certificates(tls)), testbeds=0, cores=1, tls=tls)
    assert started[0] == "worker"


@pytest.mark.usefixtures("as_user")
def test_a_scheduler_listens_at_its_host_only(tls: Path, started: list[str]) -> None:
    scheduler("127.0.0.1", 8786)
    assert value(started, "--host") == "127.0.0.1"
    assert value(started, "--protocol") == "tcp"
    assert value(started, "--dashboard-address") == "127.0.0.1:0"
    started.clear()
    scheduler("127.0.0.1", 8786, tls)
    assert value(started, "--protocol") == "tls"
    assert os.environ["DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES"] == "[]"


@pytest.mark.parametrize(
    "text", ["ucx://10.0.0.1:8786", "10.0.0.1", "tls://:8786", "tls://h:0", "tls://h:65536", "h:x"]
)
def test_what_is_not_an_address_is_refused(text: str) -> None:
    assert f"--scheduler: {text!r} is not an address. Write for example tls://" in refused(
        cluster.address, text, None
    )


@pytest.mark.usefixtures("as_user")
def test_address_and_certificates_belong_together(tls: Path) -> None:
    assert "needs certificates. Give --tls DIR" in refused(cluster.address, "tls://h:1", None)
    assert "is without TLS. Write tls://" in refused(cluster.address, "tcp://h:1", tls)
    assert str(cluster.address("tls://[::1]:1", tls)) == "tls://[::1]:1"
    assert str(cluster.address("127.0.0.1:1", None)) == "tcp://127.0.0.1:1"


def test_certificates_are_made_whole_and_for_their_owner_only(tls: Path) -> None:
    assert sorted(file.name for file in tls.iterdir()) == ["ca.pem", "cert.pem", "key.pem"]
    assert stat.S_IMODE(tls.stat().st_mode) == 0o700
    assert stat.S_IMODE((tls / "key.pem").stat().st_mode) == 0o600
    assert [file.name for file in tls.parent.iterdir()] == ["tls"]
    assert "exists already" in refused(make, tls, days=1)
    assert "cannot be made (No such file or directory)" in refused(
        make, tls.parent / "no" / "folder", days=1
    )


def spoil_missing(folder: Path) -> None:
    (folder / "cert.pem").unlink()


def spoil_public(folder: Path) -> None:
    (folder / "key.pem").chmod(0o640)


def spoil_garbled(folder: Path) -> None:
    (folder / "cert.pem").write_text("not a certificate")


def spoil_of_another(folder: Path) -> None:
    make(folder / "another", days=1)
    (folder / "another" / "key.pem").replace(folder / "key.pem")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (spoil_missing, "cert.pem: is missing. `ccu certificates DIR` makes"),
        (spoil_public, "key.pem: other users may read this key. `chmod 600"),
        (spoil_garbled, "cannot be used"),
        (spoil_of_another, "cannot be used"),
    ],
)
def test_certificates_that_cannot_be_used_are_refused(
    tls: Path, tmp_path: Path, spoil: Any, why: str
) -> None:
    folder = tmp_path / "tls"
    shutil.copytree(tls, folder)
    spoil(folder)
    assert why in refused(cluster.certificates, folder)


def test_expired_certificates_are_refused(tls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cluster.certificates(tls) == Certificates(tls)
    context = ssl.create_default_context(cafile=tls / "ca.pem")
    (ours,) = [one for one in context.get_ca_certs() if "ccu-cluster" in str(one["subject"])]
    until_s = ssl.cert_time_to_seconds(str(ours["notAfter"]))
    monkeypatch.setattr(cluster.time, "time", lambda: until_s + 1.0)
    assert f"ca.pem: expired at {ours['notAfter']}" in refused(cluster.certificates, tls)


def test_a_worker_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """Dask's worker is a process that multiprocessing starts, of root where it offers testbeds."""
    folder, mark = hostile.folder_in(tmp_path)
    file, log = tmp_path / "scheduler", tmp_path / "log"
    where = ["--host", "127.0.0.1", *members._NO_PAGES, "--scheduler-file", str(file)]
    environment = os.environ | members._ENVIRONMENT | {"DASK_TEMPORARY_DIRECTORY": str(tmp_path)}
    with ExitStack() as stack, log.open("w") as said:

        def start(*words: str) -> subprocess.Popen[str]:
            one = subprocess.Popen(
                words, cwd=folder, env=environment, stdout=said, stderr=said, text=True
            )
            stack.callback(one.wait)
            stack.callback(one.terminate)
            return one

        scheduler = start(str(BIN / "dask"), "scheduler", "--port", "0", *where)
        until(file.exists, scheduler)
        words = ("worker", "--nworkers", "1", *where)
        member = start(*interpreter.of_package(members.PROGRAM), *words)
        until(lambda: mark.exists() or "Register worker" in log.read_text(), member)
    assert not mark.exists()
