# SPDX-License-Identifier: Apache-2.0
"""Grafana's user: it can read the store, and nothing else."""

from __future__ import annotations

from psycopg import sql

from ddu.store.connect import Connection
from ddu.store.place import READER


def provide_reader(connection: Connection, password: str) -> None:
    """Make or correct the reader: SELECT on the store's tables, with limits.

    A dashboard that asks for too much is stopped after ten seconds, and writing is refused twice:
    by the missing privilege, and because each of its transactions is read-only.
    """
    reader = sql.Identifier(READER)
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [READER]).fetchone()
    verb = sql.SQL("ALTER" if known else "CREATE")
    connection.execute(
        sql.SQL(
            "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS "
            "CONNECTION LIMIT 40 PASSWORD {}"
        ).format(verb, reader, sql.Literal(password))
    )
    for statement in (
        "ALTER ROLE {} SET default_transaction_read_only = on",
        "ALTER ROLE {} SET statement_timeout = '10s'",
        "ALTER ROLE {} SET idle_in_transaction_session_timeout = '60s'",
        "GRANT USAGE ON SCHEMA testbed TO {}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA testbed TO {}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA testbed GRANT SELECT ON TABLES TO {}",
    ):
        connection.execute(sql.SQL(statement).format(reader))
    connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    database = connection.execute("SELECT current_database()").fetchone()
    assert database is not None
    connection.execute(
        sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database[0]))
    )
