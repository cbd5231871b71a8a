# SPDX-License-Identifier: Apache-2.0
"""Connections to the store, and PostgreSQL's errors in terms of the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from ddu.errors import StoreAway, StoreError, StoreRefused

Connection = psycopg.Connection[tuple[Any, ...]]
_CONNECT_TIMEOUT_S = 5
_LOCK_TIMEOUT_S = 300
"""The longest that a publisher waits for another, or for a query that holds a table."""
_SEARCH_PATH = "pg_catalog,pg_temp"
"""The schemas in which names without one are searched. The database's owner may set others, where
his own tables would come before those of the catalogue that the superuser reads."""
_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError)


@contextmanager
def connected(url: str, autocommit: bool = False) -> Iterator[Connection]:
    """Yield a connection; the block is one transaction: all of it is stored, or nothing.

    With `autocommit` each statement is a transaction of its own.

    Raises StoreError that says what is wrong and how to fix it, and never shows the password;
    StoreAway if it may work later.
    """
    where = described(url)
    try:
        # A dead server is noticed by keepalives and not after hours.
        connection = psycopg.connect(
            url,
            autocommit=autocommit,
            connect_timeout=_CONNECT_TIMEOUT_S,
            application_name="ddu",
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            # What a session asks for comes before what database and role have set.
            options=f"-c client_min_messages=warning -c lock_timeout={_LOCK_TIMEOUT_S}s "
            f"-c search_path={_SEARCH_PATH} "
            # The locks of a client that is gone end as soon.
            "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3",
        )
    except psycopg.Error as error:
        raise _not_connected(where, error) from None
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        kind = StoreAway if isinstance(error, _BROKEN) else StoreError
        rule, fix = explained(error)
        raise kind(f"{rule}; nothing was changed", fix, key=where) from error


def described(url: str) -> str:
    """Return the store's address as it may be shown: without the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreRefused(
            "not a PostgreSQL address",
            "write one as postgresql://user@host:5432/testbed",
            key="--store",
        ) from None
    host, port = parts.get("host") or "local socket", parts.get("port") or 5432
    return f"store {host}:{port}/{parts.get('dbname') or parts.get('user') or ''}"


def explained(error: psycopg.Error) -> tuple[str, str]:
    """Return the server's error as one line, and how to fix it, if that is known."""
    said = (error.diag.message_primary or str(error)).strip().splitlines()
    first = said[0] if said else type(error).__name__
    match error:
        case errors.DiskFull():
            return f"its disk is full ({first})", ""
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return f"this user may only look ({first})", "publish as the store's owner"
        case errors.LockNotAvailable():
            return f"it is in use by others ({first})", "repeat the command later"
        case errors.AdminShutdown() | errors.CrashShutdown():
            return f"it was stopped in the middle ({first})", ""
        case errors.InvalidSchemaName() | errors.UndefinedTable():
            return f"it is not set up ({first})", "set it up with `ddu store up`"
        case psycopg.OperationalError():
            return f"the connection was lost ({first})", ""
    return first, ""


def _not_connected(where: str, error: psycopg.Error) -> StoreError:
    text = str(error).strip()
    if "password authentication failed" in text or "no password supplied" in text:
        look = "see where the right one is kept with `ddu store status`"
        return StoreError("wrong user or password", look, key=where)
    if "does not exist" in text:
        missing = text.splitlines()[-1].split("FATAL:")[-1].strip()
        return StoreError(missing, "make it with `ddu store up`", key=where)
    if "Connection refused" in text or "timeout expired" in text or "No such file" in text:
        return StoreAway("nobody answers", "start it with `ddu store up`", key=where)
    return StoreAway(text.splitlines()[-1] if text else type(error).__name__, key=where)
