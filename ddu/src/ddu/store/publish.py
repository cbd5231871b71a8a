# SPDX-License-Identifier: Apache-2.0
"""Publishing runs and removing them, each in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from psycopg import sql
from psycopg.types.json import Jsonb

from ddu.console.problems import Problem, RefusedError, Where
from ddu.errors import StoreRefused
from ddu.run.integrity import digest_of
from ddu.store.connect import Connection, connected
from ddu.store.contents import Contents, contents_of
from ddu.store.copying import copy_table
from ddu.store.schema import migrate, require_known, version_of

Outcome = Literal["published", "unchanged", "replaced"]


@dataclass(frozen=True)
class Published:
    name: str
    outcome: Outcome
    rows: int


def publish(url: str, path: Path, replace: bool = False) -> Published:
    """Store the run at `path`, whole or not at all; a run that is stored already is unchanged.

    Raises StoreError when the store does not answer, StoreRefused when it holds another run of this
    name (unless `replace`), and RefusedError when the directory cannot be read; the store is then
    as it was.
    """
    contents = contents_of(path)
    with connected(url) as connection:
        migrate(connection)
        return store(connection, contents, replace)


def store(connection: Connection, contents: Contents, replace: bool) -> Published:
    """Store the contents in the caller's transaction."""
    name = contents.run["name"]
    lock_name(connection, name)
    known = connection.execute(
        "SELECT run_id, state, digest FROM testbed.run WHERE name = %s", [name]
    ).fetchone()
    if known and known[1] == "published":
        if known[2] == contents.digest:
            return Published(name, "unchanged", 0)
        if not replace:
            raise StoreRefused(
                "the store has a run of this name with other content (it was analysed again, or is "
                "another run)",
                "add --replace to replace it",
                key=name,
            )
    if known:
        connection.execute("DELETE FROM testbed.run WHERE run_id = %s", [known[0]])
    rows = _insert(connection, contents)
    outcome: Outcome = "replaced" if known and known[1] == "published" else "published"
    return Published(name, outcome, rows)


def unpublish(url: str, *names: str) -> None:
    """Remove runs with all their rows, or none: raises RefusedError if one is not in the store."""
    with connected(url) as connection:
        require_known(version_of(connection))
        deleted = connection.execute(
            "DELETE FROM testbed.run WHERE name = ANY(%s) RETURNING name", [list(names)]
        )
        there = {name for (name,) in deleted}
        if missing := [name for name in names if name not in there]:
            rule = "the store has no run of this name"
            raise RefusedError(Problem(rule, where=Where(key=name)) for name in missing)


def lock_name(connection: Connection, name: str) -> None:
    """Take the lock of a run's name: two that publish the same run take turns."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def insert_run(connection: Connection, experiment: dict[str, Any], row: dict[str, Any]) -> int:
    """Insert a row of `run`, and of `experiment` if it is the first; return run_id."""
    digest = digest_of(experiment)
    connection.execute(
        "INSERT INTO testbed.experiment (digest, resolved) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        [digest, Jsonb(experiment)],
    )
    row = {key: Jsonb(value) if isinstance(value, dict) else value for key, value in row.items()}
    statement = sql.SQL(
        "INSERT INTO testbed.run (experiment_id, {}) VALUES "
        "((SELECT experiment_id FROM testbed.experiment WHERE digest = %s), {}) RETURNING run_id"
    ).format(*_listed(row))
    inserted = connection.execute(statement, [digest, *row.values()]).fetchone()
    assert inserted is not None
    return int(inserted[0])


def _listed(row: dict[str, Any]) -> tuple[sql.Composed, sql.Composed]:
    """Return the names of the columns, and a placeholder for each."""
    comma = sql.SQL(", ")
    return comma.join(map(sql.Identifier, row)), comma.join(sql.Placeholder() * len(row))


def _insert(connection: Connection, contents: Contents) -> int:
    row = {**contents.run, "state": "published", "digest": contents.digest}
    run_id = insert_run(connection, contents.experiment, row)
    for flow in contents.flows:
        statement = sql.SQL("INSERT INTO testbed.flow (run_id, {}) VALUES (%s, {})").format(
            *_listed(flow)
        )
        connection.execute(statement, [run_id, *flow.values()])
    for part, ratio in contents.parts.items():
        connection.execute(
            "INSERT INTO testbed.part_cpu VALUES (%s, %s, %s)", [run_id, part, ratio]
        )
    rows = 0
    for table, series in contents.series.items():
        rows += copy_table(connection, table, series, {"run_id": run_id})
    derive(connection, run_id)
    return rows


def derive(connection: Connection, run_id: int) -> None:
    """Fill the tables that comparisons read from the run's series."""
    script = files("ddu.store").joinpath("derive.sql").read_text()
    for statement in script.split(";\n"):
        if "INSERT" in statement:
            connection.execute(statement.encode(), {"run_id": run_id})
