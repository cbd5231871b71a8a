# SPDX-License-Identifier: Apache-2.0
"""The roles of the store: the publisher, which owns its database and nothing else, and Grafana's.

They are made by the superuser, whose password stays with who runs `ddu store up`. A worker of a
campaign, or a dashboard, gets the password of a role that cannot read files or run programs.

The superuser also connects to the publisher's database, where the publisher may plant views and
functions. There it reads the catalogue only, whose names `connected` finds first, and changes
privileges: neither runs a function of the publisher.
"""

from __future__ import annotations

from contextlib import suppress

from psycopg import sql

from ddu.errors import StoreError
from ddu.store.connect import Connection, connected
from ddu.store.directory import ADMIN, DATABASE, OWNER, READER, StoreDirectory

_PLAIN = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
_FORMER_OWNER = "ddu_former"


def provide_owner(place: StoreDirectory) -> None:
    """Make or correct the publisher, and its database. Raises StoreError."""
    _provide_admin(place)
    with connected(place.url(ADMIN, "postgres")) as connection:
        former = _is_superuser(connection, OWNER)
        if former:  # of a store that was made before the publisher was a role of its own
            connection.execute(f"ALTER ROLE {OWNER} RENAME TO {_FORMER_OWNER}")
            connection.execute(f"ALTER ROLE {_FORMER_OWNER} NOLOGIN")
        _provide(connection, OWNER, _PLAIN, place.password("owner"))
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        exists = known.fetchone() is not None
    if not exists:
        # Not within a transaction (PostgreSQL, CREATE DATABASE).
        with connected(place.url(ADMIN, "postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
    with connected(place.url(ADMIN)) as connection:
        connection.execute(f"ALTER DATABASE {DATABASE} OWNER TO {OWNER}")
        if former:
            _take_over(connection)
        connection.execute(f"REVOKE CONNECT, TEMPORARY ON DATABASE {DATABASE} FROM PUBLIC")
        # A superuser needs no privilege to connect.
        connection.execute("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        _revoke_functions(connection)


def provide_reader(place: StoreDirectory) -> None:
    """Make or correct the reader: SELECT on the store's tables, with limits.

    A dashboard that asks for too much is stopped after ten seconds, and writing is refused twice:
    by the missing privilege, and because each of its transactions is read-only. PostgreSQL lets
    each role change its own settings and password; this restores them. Raises StoreError.
    """
    with connected(place.url(ADMIN)) as connection:
        limits = f"{_PLAIN} CONNECTION LIMIT 40"
        _provide(connection, READER, limits, place.password("reader"))
        for statement in (
            "ALTER ROLE {} RESET ALL",
            f"ALTER ROLE {{}} IN DATABASE {DATABASE} RESET ALL",
            "ALTER ROLE {} SET default_transaction_read_only = on",
            "ALTER ROLE {} SET statement_timeout = '10s'",
            "ALTER ROLE {} SET idle_in_transaction_session_timeout = '60s'",
            f"GRANT CONNECT ON DATABASE {DATABASE} TO {{}}",
            "GRANT USAGE ON SCHEMA testbed TO {}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA testbed TO {}",
            f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA testbed "
            "GRANT SELECT ON TABLES TO {}",
        ):
            connection.execute(sql.SQL(statement).format(sql.Identifier(READER)))


def _provide_admin(place: StoreDirectory) -> None:
    """Make the superuser in a store that was made before there was one. Raises StoreError."""
    with suppress(StoreError), connected(place.url(ADMIN, "postgres")):
        return
    with connected(place.url(OWNER, "postgres")) as connection:
        _provide(connection, ADMIN, "LOGIN SUPERUSER", place.password("admin"))


def _provide(connection: Connection, role: str, options: str, password: str) -> None:
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    verb = "ALTER" if known else "CREATE"
    statement = sql.SQL(f"{verb} ROLE {role} {options} PASSWORD {{}}")
    connection.execute(statement.format(sql.Literal(password)))


def _is_superuser(connection: Connection, role: str) -> bool:
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    return bool(row and row[0])


def _take_over(connection: Connection) -> None:
    """Give the publisher the schema and tables of the former one."""
    schema = connection.execute("SELECT to_regnamespace('testbed')").fetchone()
    if schema and schema[0]:
        connection.execute(f"ALTER SCHEMA testbed OWNER TO {OWNER}")
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'testbed'")
    for (table,) in tables.fetchall():
        statement = sql.SQL(f"ALTER TABLE testbed.{{}} OWNER TO {OWNER}")
        connection.execute(statement.format(sql.Identifier(table)))


def _revoke_functions(connection: Connection) -> None:
    """Let only the publisher take advisory locks, and nobody write large objects.

    Both are functions that every role may call at first, in read-only transactions too.
    """
    functions = connection.execute(
        "SELECT oid::regprocedure::text FROM pg_proc "
        "WHERE pronamespace = 'pg_catalog'::regnamespace "
        r"AND (proname ~ '^pg_(try_)?advisory' OR proname ~ '^(lo_|lowrite)')"
    ).fetchall()
    for (function,) in functions:
        connection.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
        if "advisory" in function:
            connection.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {OWNER}")
