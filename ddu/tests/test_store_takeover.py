# SPDX-License-Identifier: Apache-2.0
"""The publisher, who owns the database, plants there what the superuser would run."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest

from ddu.store import private
from ddu.store.backup import backup, restore
from ddu.store.connect import connected
from ddu.store.directory import ADMIN, OWNER, READER, StoreDirectory
from ddu.store.service import up
from testsupport.store_server import reader_url

PROGRAM = private.program
_SEIZING = """
CREATE SCHEMA evil;
CREATE FUNCTION evil.seize() RETURNS boolean LANGUAGE plpgsql AS $f$
BEGIN
    IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
        ALTER ROLE ddu SUPERUSER;
    END IF;
    RETURN true;
END $f$;
CREATE VIEW evil.pg_roles AS SELECT * FROM pg_catalog.pg_roles WHERE evil.seize();
CREATE VIEW evil.pg_proc AS SELECT * FROM pg_catalog.pg_proc WHERE evil.seize();
CREATE VIEW evil.pg_database AS SELECT * FROM pg_catalog.pg_database WHERE evil.seize();
CREATE VIEW evil.pg_tables AS SELECT * FROM pg_catalog.pg_tables WHERE evil.seize();
GRANT USAGE ON SCHEMA evil TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA evil TO PUBLIC;
ALTER DATABASE testbed SET search_path = evil, pg_catalog;
"""
"""Views in place of the catalogue, found first, whose function acts for whoever reads them."""


def superusers(place: StoreDirectory) -> list[str]:
    with psycopg.connect(place.url(ADMIN, "postgres")) as connection:
        names = connection.execute("SELECT rolname FROM pg_roles WHERE rolsuper")
        return [name for (name,) in names]


def test_views_in_place_of_the_catalogue(own_store: StoreDirectory) -> None:
    with psycopg.connect(own_store.url()) as publisher:
        publisher.execute(_SEIZING.encode())
    up(own_store, own_store.address())
    assert superusers(own_store) == [ADMIN]


def test_the_same_out_of_a_backup_of_another(own_store: StoreDirectory, tmp_path: Path) -> None:
    """A constraint of the backup plants them while its rows are restored."""
    with psycopg.connect(own_store.url()) as publisher:
        publisher.execute(
            "CREATE FUNCTION testbed.plant() RETURNS boolean LANGUAGE sql AS 'SELECT true'"
        )
        publisher.execute("CREATE TABLE testbed.bait (x integer CHECK (testbed.plant()))")
        publisher.execute("INSERT INTO testbed.bait VALUES (1)")
        planting = f"BEGIN\n{_SEIZING}\nRETURN true;\nEND"
        publisher.execute(
            "CREATE OR REPLACE FUNCTION testbed.plant() RETURNS boolean LANGUAGE plpgsql "
            f"AS $plant$ {planting} $plant$".encode()
        )
    backup(own_store, tmp_path / "foreign.dump")
    restore(own_store, tmp_path / "foreign.dump", replace=True)
    with psycopg.connect(own_store.url()) as publisher:
        (path,) = publisher.execute("SHOW search_path").fetchone() or ()
    assert path == "evil, pg_catalog"
    assert superusers(own_store) == [ADMIN]
    up(own_store, own_store.address())
    assert superusers(own_store) == [ADMIN]


def test_root_reads_no_backup_of_others_as_root(
    own_store: StoreDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of pg_restore, which reads what they wrote, is then one of the server's user."""
    if os.geteuid() != 0:
        pytest.skip("without root it is this user")
    seen = own_store.data.parent / "seen"
    seen.mkdir(mode=0o777)
    seen.chmod(0o777)

    def noting(name: str, data: Path) -> Path:
        program = own_store.data.parent / name
        real = PROGRAM(name, data)
        program.write_text(f'#!/bin/sh\nid -un >"{seen}/{name}"\nexec "{real}" "$@"\n')
        program.chmod(0o755)
        return program

    monkeypatch.setattr(private, "program", noting)
    monkeypatch.chdir(tmp_path)
    backup(own_store, tmp_path / "store.dump")
    restore(own_store, tmp_path / "store.dump", replace=True)
    for name in ("pg_dump", "pg_restore"):
        assert (seen / name).read_text().strip() in private.UNPRIVILEGED
    monkeypatch.undo()


@pytest.mark.parametrize("role", [OWNER, READER, ADMIN])
def test_no_session_of_ours_looks_elsewhere_for_names(own_store: StoreDirectory, role: str) -> None:
    """Nor in temporary objects first, of the session itself."""
    with psycopg.connect(own_store.url()) as publisher:
        publisher.execute("ALTER DATABASE testbed SET search_path = evil")
        publisher.execute("ALTER ROLE ddu SET search_path = evil")
    with connected(own_store.url(role)) as connection:
        assert connection.execute("SHOW search_path").fetchone() == ("pg_catalog,pg_temp",)


def test_up_restores_what_the_reader_changed_in_this_database_only(
    own_store: StoreDirectory,
) -> None:
    """Such a setting is another than that of the role, and comes before it."""
    with psycopg.connect(reader_url(own_store), autocommit=True) as reader:
        reader.execute("SET default_transaction_read_only = off")
        reader.execute("ALTER ROLE ddu_reader IN DATABASE testbed SET statement_timeout = 0")
    up(own_store, own_store.address())
    with psycopg.connect(reader_url(own_store)) as reader:
        assert reader.execute("SHOW statement_timeout").fetchone() == ("10s",)
