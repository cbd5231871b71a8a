# SPDX-License-Identifier: Apache-2.0
"""The store's schema: one SQL file a version, applied in order, each once; then the columns that
metrics declare."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from ddu.errors import StoreRefused
from ddu.store.connect import Connection
from ddu.store.metric_columns import add_missing

_LOCK = 0x5465_7374
"""Advisory lock of PostgreSQL: two that migrate at once take turns."""


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return them in order; `001_runs.sql` is version 1."""
    known = [
        Migration(int(file.name[:3]), file.name, file.read_text())
        for file in files("ddu.store").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(known, key=lambda migration: migration.version)


def version_of(connection: Connection) -> int:
    """Return the version of the store's schema; 0 when it has none."""
    there = connection.execute("SELECT to_regclass('testbed.migration')").fetchone()
    if there is None or there[0] is None:
        return 0
    row = connection.execute("SELECT max(version) FROM testbed.migration").fetchone()
    return int(row[0] or 0) if row else 0


def migrate(connection: Connection) -> list[str]:
    """Bring an older schema up to this version, and return the migrations that were applied.

    Raises StoreError for a schema of a newer ddu. Runs in the caller's transaction.
    """
    known = migrations()
    require_known(version_of(connection))
    if version_of(connection) == known[-1].version:
        add_missing(connection)
        return []
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    connection.execute("CREATE SCHEMA IF NOT EXISTS testbed")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS testbed.migration (version integer PRIMARY KEY, "
        "name text NOT NULL, applied timestamptz NOT NULL DEFAULT clock_timestamp())"
    )
    before = version_of(connection)
    applied = []
    for migration in known:
        if migration.version > before:
            connection.execute(migration.sql.encode())
            connection.execute(
                "INSERT INTO testbed.migration (version, name) VALUES (%s, %s)",
                [migration.version, migration.name],
            )
            applied.append(migration.name)
    add_missing(connection)
    return applied


def keep_others_from_migrating(connection: Connection) -> None:
    """Let nobody else make or change the schema until the connection ends."""
    connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])


def require_known(version: int) -> None:
    """Raise StoreRefused for the schema of a newer ddu, whose meaning is not known here."""
    newest = migrations()[-1].version
    if version > newest:
        raise StoreRefused(
            f"the store's schema has version {version}, and this ddu knows {newest}",
            "update ddu, or use another store",
        )
