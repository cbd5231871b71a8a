# SPDX-License-Identifier: Apache-2.0
"""The commands as a user types them, with what they say."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from typer.testing import CliRunner, Result

from ddu.cli.main import app
from ddu.errors import StoreError
from ddu.store import private
from ddu.store.connect import connected
from ddu.store.directory import ADMIN, DATABASE, OWNER, Address, StoreDirectory
from ddu.store.publish import publish
from ddu.store.schema import migrate
from testsupport.ports import free_port
from testsupport.prepared import command
from testsupport.store_runs import tabled, two_flows
from testsupport.store_server import copy_empty_store, reader_url


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    try:
        private.program("initdb")
    except StoreError as error:
        pytest.skip(f"{error} (setup/system-packages test)")
    made = Path(tempfile.mkdtemp(prefix="ddu-store-"))
    made.chmod(0o755)
    monkeypatch.setenv("DDU_STORE_DIR", str(made / "store"))
    monkeypatch.delenv("DDU_STORE", raising=False)
    yield made / "store"
    CliRunner().invoke(app, ["store", "down"])
    shutil.rmtree(made)


@pytest.fixture
def stopped(directory: Path) -> Path:
    """The same where there is a store already, which is down: making one is most of a test."""
    directory.mkdir()
    copy_empty_store(directory)
    return directory


def ddu(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_from_nothing_to_a_backup_and_down(directory: Path, tmp_path: Path) -> None:
    port = str(free_port())
    first = ddu("store", "up", "--port", port)
    assert first.exit_code == 0, first.output
    shown = [line for line in first.stdout.splitlines() if "shown only once" in line]
    assert len(shown) == 2
    owner = (directory / "secrets" / "owner").read_text().strip()
    assert shown[0].endswith(owner)
    assert (directory / "secrets").stat().st_mode & 0o077 == 0
    again = ddu("store", "up")
    assert again.exit_code == 0, again.output
    assert owner not in again.output
    assert f"127.0.0.1:{port}" in again.stdout

    run = tabled(two_flows(20).write(tmp_path / "run"))
    assert "synthetic: published" in ddu("publish", str(run)).stdout
    assert "synthetic: unchanged" in ddu("publish", str(run)).stdout
    status = ddu("store", "status").stdout
    assert "1 runs" in status
    assert owner not in status
    assert ddu("store", "backup", str(tmp_path / "dump")).exit_code == 0
    assert "removed from the store" in ddu("unpublish", str(run)).stdout
    assert "restored" in ddu("store", "restore", str(tmp_path / "dump")).stdout
    assert "1 runs" in ddu("store", "status").stdout
    assert "stopped" in ddu("store", "down").stdout
    assert "was not running" in ddu("store", "down").stdout
    assert ddu("publish", str(run)).exit_code == 1


def test_what_cannot_be_published_stops_no_other(stopped: Path, tmp_path: Path) -> None:
    ddu("store", "up", "--port", str(free_port()))
    good = tabled(two_flows(20).write(tmp_path / "good"))
    said = ddu("publish", str(tmp_path / "nowhere"), str(good))
    assert said.exit_code == 1
    assert "nowhere: not a run directory" in said.stderr
    assert "synthetic: published" in said.stdout


def test_live_follows_one_run(directory: Path, tmp_path: Path) -> None:
    said = ddu("publish", "--live", "a", "b", "--store", "postgresql://ddu@127.0.0.1:1/x")
    assert said.exit_code != 0
    assert "one run" in said.stderr


def test_a_store_for_other_machines(stopped: Path) -> None:
    """Any address of this machine but 127.0.0.1 is another machine's to PostgreSQL."""
    every = (each for all_of in psutil.net_if_addrs().values() for each in all_of)
    addresses = [
        each.address
        for each in every
        if each.family == socket.AF_INET and not each.address.startswith("127.")
    ]
    if not addresses:
        pytest.skip("needs a network interface with an address of its own")
    port = str(free_port())
    done = ddu("store", "up", "--port", port, "--bind", addresses[0])
    assert done.exit_code == 0, done.output
    assert ddu("store", "status").exit_code == 0
    assert ddu("store", "down").stdout == "store: stopped\n"
    assert ddu("store", "up", "--bind", "127.0.0.1").exit_code == 0
    assert "--bind" not in (stopped / "data" / "pg_hba.conf").read_text()


def test_a_store_whose_publisher_was_the_superuser_is_corrected(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Return the store as `ddu store up` made it until November 2026."""
    place, address = StoreDirectory(directory), Address("private", port=free_port())
    place.make_passwords()
    with monkeypatch.context() as before:
        before.setattr(private, "ADMIN", OWNER)
        before.setattr(place, "password", lambda _: StoreDirectory(directory).password("owner"))
        private.start(place, address)
    (directory / "secrets" / "admin").unlink()
    place.remember(address)
    with psycopg.connect(place.url(OWNER, "postgres"), autocommit=True) as superuser:
        superuser.execute(f"CREATE DATABASE {DATABASE}")
    with connected(place.url()) as connection:
        migrate(connection)
    run = tabled(two_flows(20).write(tmp_path / "run"))
    publish(place.url(), run)
    for _ in range(2):
        done = ddu("store", "up", "--port", str(address.port))
        assert done.exit_code == 0, done.output
        assert "1 runs" in ddu("store", "status").stdout
        with psycopg.connect(place.url()) as publisher:
            query = "SELECT rolname FROM pg_roles WHERE rolsuper AND rolcanlogin"
            assert publisher.execute(query).fetchall() == [(ADMIN,)]
    assert "removed from the store" in ddu("unpublish", str(run)).stdout


def test_up_restores_what_the_reader_has_changed(stopped: Path) -> None:
    ddu("store", "up", "--port", str(free_port()))
    with psycopg.connect(reader_url(StoreDirectory(stopped)), autocommit=True) as reader:
        reader.execute("SET default_transaction_read_only = off")
        reader.execute("ALTER ROLE ddu_reader SET statement_timeout = 0")
        reader.execute("ALTER ROLE ddu_reader SET work_mem = '7GB'")
        reader.execute("ALTER ROLE ddu_reader PASSWORD 'mine'")
    assert ddu("store", "up").exit_code == 0
    with psycopg.connect(reader_url(StoreDirectory(stopped))) as reader:
        assert reader.execute("SHOW statement_timeout").fetchone() == ("10s",)
        assert reader.execute("SHOW work_mem").fetchone() != ("7GB",)


def test_root_follows_no_link_that_the_server_has_made(directory: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("without root the server is this user")
    mine = tmp_path / "roots"
    mine.write_text("root's\n")
    tmp_path.chmod(0o755)
    place = StoreDirectory(directory)
    server = pwd.getpwnam(private.UNPRIVILEGED[0])
    place.log.parent.mkdir(parents=True)
    os.chown(place.log.parent, server.pw_uid, server.pw_gid)
    (place.log.parent / "password").symlink_to(mine)
    port = str(free_port())
    assert ddu("store", "up", "--port", port).exit_code != 0
    assert mine.read_text() == "root's\n"
    assert mine.stat().st_uid == 0
    (place.log.parent / "password").unlink()
    assert ddu("store", "up", "--port", port).exit_code == 0
    ddu("store", "down")
    (directory / "data" / "pg_hba.conf").unlink()
    (directory / "data" / "pg_hba.conf").symlink_to(mine)
    assert ddu("store", "up").exit_code != 0
    assert mine.read_text() == "root's\n"


@pytest.mark.parametrize("name", ["data/pg_hba.conf", "data/postmaster.pid", "log/postgresql.log"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_root_waits_for_no_pipe_that_the_server_has_made(
    stopped: Path, name: str, kind: str
) -> None:
    """Nor does it read a device, which may have no end."""
    if os.geteuid() != 0:
        pytest.skip("without root the server is this user")
    server = pwd.getpwnam(private.UNPRIVILEGED[0])
    file = stopped / name
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    os.lchown(file, server.pw_uid, server.pw_gid)
    ran = command("ddu", "store", "up", "--port", free_port(), timeout_s=60)
    assert ran.returncode == 1
    assert f"{file}: is a {'named pipe' if kind == 'pipe' else 'device'}" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_what_becomes_a_pipe_meanwhile_is_not_waited_for(stopped: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("without root the server is this user")
    server = pwd.getpwnam(private.UNPRIVILEGED[0])
    os.mkfifo(stopped / "data" / "pipe")
    os.lchown(stopped / "data" / "pipe", server.pw_uid, server.pw_gid)
    script = (
        "import sys; from pathlib import Path; from ddu.store import private\n"
        "private.need_regular = lambda _: None; file = Path(sys.argv[1])\n"
        "assert private._read(file) == ''\n"
        "try: private._write(file, 'x')\n"
        "except private.StoreError as error: print(error)"
    )
    words = [sys.executable, "-c", script, str(stopped / "data" / "pipe")]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "No such device or address" in ran.stdout, ran.stderr


def test_a_start_that_was_interrupted_is_completed(directory: Path) -> None:
    place, address = StoreDirectory(directory), Address("private", port=free_port())
    place.make_passwords()
    private.start(place, address)  # Then its caller ended, before it made the database.
    done = ddu("store", "up", "--port", str(address.port))
    assert done.exit_code == 0, done.output
    assert "0 runs" in ddu("store", "status").stdout
