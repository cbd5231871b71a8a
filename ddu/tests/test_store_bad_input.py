# SPDX-License-Identifier: Apache-2.0
"""A store that is away, refuses, dies or is full: said in words, and nothing half stored."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from ddu.cli.main import app
from ddu.errors import StoreError
from ddu.store import connect, private
from ddu.store.backup import backup, restore
from ddu.store.connect import connected, described
from ddu.store.contents import contents_of
from ddu.store.directory import Address, StoreDirectory
from ddu.store.private import _refuse_taken
from ddu.store.publish import publish, store, unpublish
from ddu.store.schema import migrate, migrations, version_of
from ddu.store.service import down, status, up
from testsupport.ports import free_port
from testsupport.prepared import Started
from testsupport.store_runs import tabled, two_flows, with_radio
from testsupport.store_server import fresh_store, reader_url, row_count
from testsupport.waiting import until

HOSTILE = (
    "'; DROP TABLE testbed.run; --",
    '<script>alert("x")</script><img src=x onerror=alert(1)>',
    "$(reboot) `id` ${run:raw} %s {} \\'",
    "[red]markup[/red]\nsecond line\t\u202e\U0001f4e1",
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tabled(with_radio(two_flows(60).write(tmp_path / "run")))


def test_a_store_that_is_away(tmp_path: Path, run: Path) -> None:
    url = f"postgresql://ddu:secret@127.0.0.1:{free_port()}/testbed"
    away = r"127\.0\.0\.1.*nobody answers\. Start it with `ddu store up`"
    with pytest.raises(StoreError, match=away) as refused:
        publish(url, run)
    assert "secret" not in str(refused.value)
    with pytest.raises(StoreError, match="not a PostgreSQL address"):
        publish("a b c", run)
    with pytest.raises(StoreError, match="no store here"):
        StoreDirectory(tmp_path).url()


def test_a_wrong_password_is_named_and_not_shown(empty_store: StoreDirectory, run: Path) -> None:
    wrong = empty_store.url().replace(empty_store.password("owner"), "guessed")
    with pytest.raises(StoreError, match="wrong user or password") as refused:
        publish(wrong, run)
    assert "guessed" not in str(refused.value)
    assert "guessed" not in described(wrong)


def test_the_command_fails_with_one_line(run: Path) -> None:
    url = f"postgresql://ddu@127.0.0.1:{free_port()}/testbed"
    said = CliRunner().invoke(app, ["publish", str(run), "--store", url])
    assert said.exit_code == 1
    assert len(said.stderr.strip().splitlines()) == 1


def test_a_newer_schema_is_refused_and_left_alone(own_store: StoreDirectory, run: Path) -> None:
    newer = migrations()[-1].version + 1
    with connected(own_store.url()) as connection:
        connection.execute(
            "INSERT INTO testbed.migration (version, name) VALUES (%s, 'later')", [newer]
        )
    with pytest.raises(
        StoreError, match=f"version {newer}, and this ddu knows {newer - 1}. Update"
    ):
        publish(own_store.url(), run)
    assert row_count(own_store.url(), "run") == 0
    assert status(own_store.url())["schema"] == newer


def test_an_older_schema_is_migrated(own_store: StoreDirectory, run: Path) -> None:
    known = migrations()
    with connected(own_store.url()) as connection:
        connection.execute("DROP SCHEMA testbed CASCADE")
        connection.execute("CREATE SCHEMA testbed")
        connection.execute("CREATE TABLE testbed.migration (version integer PRIMARY KEY, "
                           "name text NOT NULL, applied timestamptz DEFAULT now())")  # fmt: skip
        connection.execute(known[0].sql.encode())
        connection.execute("INSERT INTO testbed.migration VALUES (1, %s)", [known[0].name])
    assert publish(own_store.url(), run).outcome == "published"
    with connected(own_store.url()) as connection:
        assert version_of(connection) == known[-1].version
        assert migrate(connection) == []


def test_the_reader_reads_everything_and_changes_nothing(
    empty_store: StoreDirectory, run: Path
) -> None:
    publish(empty_store.url(), run)
    url = reader_url(empty_store)
    with connected(empty_store.url()) as connection:
        tables = [row[0] for row in connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'testbed'")]  # fmt: skip
    assert len(tables) > 10
    for table in tables:
        row_count(url, table)
    for attempt in (
        "DELETE FROM testbed.run",
        "SET default_transaction_read_only = off; UPDATE testbed.run SET name = 'x'",
        "BEGIN READ WRITE; CREATE TABLE testbed.mine (x integer)",
        "BEGIN READ WRITE; CREATE TABLE public.mine (x integer)",
        "BEGIN READ WRITE; CREATE TEMPORARY TABLE mine (x integer)",
        "SELECT passwd FROM pg_shadow",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "ALTER ROLE ddu_reader SUPERUSER",
        "BEGIN READ WRITE; SELECT lo_create(0)",
        "BEGIN READ WRITE; SELECT lo_from_bytea(0, 'x')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_try_advisory_xact_lock(1)",
    ):
        with psycopg.connect(url, autocommit=True) as reader, pytest.raises(psycopg.Error):
            reader.execute(attempt.encode())
    assert row_count(empty_store.url(), "run") == 1
    with pytest.raises(StoreError, match="may only look"):
        unpublish(url, "synthetic")
    tabled(run, bin_ns=50_000_000)
    with pytest.raises(StoreError, match="may only look"):
        publish(url, run, replace=True)


def test_a_reader_that_holds_a_table_keeps_nobody_waiting(
    empty_store: StoreDirectory, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publishing goes on beside it; a change of the schema, which cannot, ends with an error."""
    monkeypatch.setattr(connect, "_LOCK_TIMEOUT_S", 1)
    url = empty_store.url()
    with psycopg.connect(reader_url(empty_store)) as reader:
        reader.execute("LOCK TABLE testbed.run IN ACCESS SHARE MODE")
        assert publish(url, run).outcome == "published"
        unpublish(url, "synthetic")
        with pytest.raises(StoreError, match="in use by others"), connected(url) as connection:
            connection.execute("SET statement_timeout = '60s'; ALTER TABLE testbed.run ADD x int")


@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_the_reader_has_no_other_database(empty_store: StoreDirectory, database: str) -> None:
    url = reader_url(empty_store).replace("/testbed", f"/{database}")
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(url)


def test_the_publisher_owns_its_database_and_nothing_else(empty_store: StoreDirectory) -> None:
    """A worker of a campaign has its password."""
    for attempt in (
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT passwd FROM pg_shadow",
        "CREATE ROLE another",
        "CREATE DATABASE another",
        "ALTER SYSTEM SET shared_buffers = '1MB'",
    ):
        with (
            psycopg.connect(empty_store.url(), autocommit=True) as publisher,
            pytest.raises(psycopg.Error, match=r"permission denied|must be|may"),
        ):
            publisher.execute(attempt.encode())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_names(
    empty_store: StoreDirectory, tmp_path: Path, name: str
) -> None:
    made = two_flows(20)
    experiment = made.manifest()["experiment"] | {"cc": name, "scenario": name}
    flows = [flow | {"cc_read_back": name} for flow in made.manifest()["flows"]]
    run = made.write(tmp_path / "run", run=name, experiment=experiment, flows=flows)
    publish(empty_store.url(), tabled(run))
    with connected(empty_store.url()) as connection:
        stored = connection.execute("SELECT name, cc FROM testbed.run").fetchall()
    assert stored == [(name, name)]
    taken = CliRunner().invoke(
        app, ["unpublish", "--store", empty_store.url(), "--", name.replace("/", "\u2215")]
    )
    assert taken.exit_code == (1 if "/" in name else 0)


def test_text_that_postgresql_cannot_hold(empty_store: StoreDirectory, tmp_path: Path) -> None:
    failure = {"stage": "ccu", "reason": "nul \0 and half a pair \ud83d"}
    run = two_flows(20).write(tmp_path / "run", status="failed", failure=failure)
    publish(empty_store.url(), run)
    with connected(empty_store.url()) as connection:
        (refused,) = connection.execute("SELECT failure FROM testbed.run").fetchone() or ()
    assert refused == "ccu: nul \ufffd and half a pair ?"


class _Held:
    """A publisher of its own process, stopped in the middle: its COPYs done, nothing committed."""

    def __init__(self, url: str, run: Path) -> None:
        self.holder = psycopg.connect(url)
        self.holder.execute("LOCK TABLE testbed.moments IN ACCESS EXCLUSIVE MODE")
        self.process = Started("ddu", "publish", run, environment={"DDU_STORE": url})
        with psycopg.connect(url, autocommit=True) as watcher:
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ddu' "
                "AND wait_event_type = 'Lock' AND query LIKE '%testbed.moments%'"
            )
            until(lambda: watcher.execute(query).fetchone() != (0,), self.process)


def test_a_publisher_that_is_killed_leaves_no_half(own_store: StoreDirectory, run: Path) -> None:
    held = _Held(own_store.url(), run)
    held.process.send_signal(signal.SIGKILL)
    held.process.wait()
    held.holder.close()
    assert row_count(own_store.url(), "run") == 0
    assert publish(own_store.url(), run).outcome == "published"
    assert row_count(own_store.url(), "run") == 1


def test_a_database_that_dies_loses_nothing(
    own_store: StoreDirectory, run: Path, tmp_path: Path
) -> None:
    first = tabled(two_flows(20).write(tmp_path / "first", run="first"))
    publish(own_store.url(), first)
    held = _Held(own_store.url(), run)
    # SIGQUIT to the postmaster: it goes down without a checkpoint, as after a power cut.
    postmaster = int((own_store.data / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGQUIT)
    ended = held.process.result()
    assert ended.returncode == 1
    assert "store" in ended.stderr
    assert "Traceback" not in ended.stderr
    until(lambda: not private.running(own_store))
    up(own_store, own_store.address())
    assert row_count(own_store.url(), "run") == 1
    assert publish(own_store.url(), first).outcome == "unchanged"
    assert publish(own_store.url(), run).outcome == "published"
    assert row_count(own_store.url(), "run") == 2


@pytest.mark.root
def test_a_full_disk_stores_nothing(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: it mounts a small disk")
    disk = Path("/run") / f"ddu-disk-{os.getpid()}"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs", str(disk)], check=False
    )
    if mounted.returncode != 0:
        disk.rmdir()
        pytest.skip("needs to mount a tmpfs")
    try:
        run = tabled(with_radio(two_flows(4000).write(tmp_path / "run")))
        with fresh_store(disk) as place:
            # A first run, so that the tables have their files; then fill what is left.
            publish(place.url(), tabled(two_flows(20).write(tmp_path / "first", run="first")))
            with connected(place.url()) as connection:
                connection.execute("ALTER TABLE testbed.transport_sample ADD ballast text "
                                   "DEFAULT repeat('x', 1800)")  # fmt: skip
                connection.execute("ALTER TABLE testbed.transport_sample ALTER ballast "
                                   "SET STORAGE PLAIN")  # fmt: skip
            filler = disk / "filler"
            with filler.open("wb", buffering=0) as stream:
                try:
                    while stream.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            with pytest.raises(StoreError, match="disk is full"):
                publish(place.url(), run)
            filler.unlink()
            assert row_count(place.url(), "run") == 1
            assert publish(place.url(), run).outcome == "published"
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
        disk.rmdir()


def test_up_and_down_again_are_harmless(own_store: StoreDirectory, run: Path) -> None:
    publish(own_store.url(), run)
    again = up(own_store, own_store.address())
    assert (again.new_passwords, again.migrations) == ({}, [])
    assert down(own_store)
    assert not down(own_store)
    up(own_store, own_store.address())
    assert status(own_store.url())["runs"] == 1


def test_a_store_that_runs_is_not_moved(own_store: StoreDirectory) -> None:
    address = own_store.address()
    with pytest.raises(StoreError, match=f"runs on 127.0.0.1:{address.port} already"):
        up(own_store, Address("private", port=free_port()))
    assert own_store.address() == address
    assert own_store.wanted("private", None, None) == address
    assert own_store.wanted("private", None, 1) == Address("private", address.host, 1)


def test_a_port_that_is_taken_is_named(own_store: StoreDirectory, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Choose another with --port"):
        up(
            StoreDirectory(own_store.directory / "other"),
            Address("private", port=own_store.address().port),
        )


def test_what_is_being_published_counts_for_a_restore(
    own_store: StoreDirectory, run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "empty.dump"
    backup(own_store, file)
    refused: list[str] = []

    def restored() -> None:
        try:
            restore(own_store, file, replace=False)
        except StoreError as error:
            refused.append(str(error))

    beside = threading.Thread(target=restored)
    with connected(own_store.url()) as publisher:
        store(publisher, contents_of(run), False)
        beside.start()
        with connected(own_store.url(), autocommit=True) as other:
            until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
    beside.join(60)
    assert ["Add --replace" in one for one in refused] == [True]
    with connected(own_store.url()) as connection:
        connection.execute("DELETE FROM testbed.run")


def test_an_address_that_this_machine_has_not(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"192\.0\.2\.7:\d+: .*[Cc]hoose another with --bind"):
        _refuse_taken(Address("private", "192.0.2.7", 5499))


def test_a_backup_comes_back(own_store: StoreDirectory, run: Path, tmp_path: Path) -> None:
    publish(own_store.url(), run)
    before = {
        table: row_count(own_store.url(), table) for table in ("run", "radio_sample", "overview")
    }
    file = tmp_path / "store.dump"
    assert backup(own_store, file) == file.stat().st_size
    with pytest.raises(StoreError, match=r"holds 1 runs.*--replace"):
        restore(own_store, file, replace=False)
    publish(own_store.url(), tabled(two_flows(20).write(tmp_path / "other", run="other")))
    (tmp_path / "cut.dump").write_bytes(file.read_bytes()[:-5000])
    with pytest.raises(StoreError, match="pg_restore"):
        restore(own_store, tmp_path / "cut.dump", replace=True)
    assert row_count(own_store.url(), "run") == 2
    restore(own_store, file, replace=True)
    after = {table: row_count(reader_url(own_store), table) for table in before}
    assert after == before
    assert publish(own_store.url(), run).outcome == "unchanged"
    with connected(own_store.url()) as connection:
        connection.execute("INSERT INTO testbed.migration VALUES (999, 'later')")
    backup(own_store, tmp_path / "newer.dump")
    with connected(own_store.url()) as connection:  # as an older version of the schema
        connection.execute("DROP TABLE testbed.radio_event")
        connection.execute("DELETE FROM testbed.migration WHERE version >= 10")
    backup(own_store, tmp_path / "older.dump")
    restore(own_store, tmp_path / "older.dump", replace=True)
    with pytest.raises(StoreError, match="has version 999, and this ddu knows"):
        restore(own_store, tmp_path / "newer.dump", replace=True)
    assert {table: row_count(reader_url(own_store), table) for table in before} == before
    with connected(own_store.url()) as connection:  # as a restoration that was killed
        connection.execute("ALTER SCHEMA testbed RENAME TO testbed_before")
    restore(own_store, file, replace=True)
    (tmp_path / "text").write_text("no backup")
    with pytest.raises(StoreError, match="not a backup"):
        restore(own_store, tmp_path / "text", replace=True)
    with pytest.raises(StoreError, match="cannot be written"):
        backup(own_store, tmp_path / "nowhere" / "file")
