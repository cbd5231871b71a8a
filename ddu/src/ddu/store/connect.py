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
_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError)


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """Yield a connection; the block is one transaction: all of it is stored, or nothing.

    Raises StoreError that says what is wrong and how to fix it, and never shows the password;
    StoreAway if it may work later.
    """
    where = described(url)
    try:
        # A dead server is noticed by keepalives and not after hours.
        connection = psycopg.connect(
            url,
            connect_timeout=_CONNECT_TIMEOUT_S,
            application_name="ddu",
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            options="-c client_min_messages=warning",
        )
    except psycopg.Error as error:
        raise _not_connected(where, error) from None
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        kind = StoreAway if isinstance(error, _BROKEN) else StoreError
        raise kind(f"{where}: {explained(error)}; nothing was changed") from error


def described(url: str) -> str:
    """Return the store's address as it may be shown: without the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreRefused(
            "--store: not a PostgreSQL address, as postgresql://user@host:5432/testbed is"
        ) from None
    host, port = parts.get("host") or "local socket", parts.get("port") or 5432
    return f"store {host}:{port}/{parts.get('dbname') or parts.get('user') or ''}"


def explained(error: psycopg.Error) -> str:
    """Return the server's error as one line."""
    said = (error.diag.message_primary or str(error)).strip().splitlines()
    first = said[0] if said else type(error).__name__
    match error:
        case errors.DiskFull():
            return f"its disk is full ({first})"
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return f"this user may only look ({first}); publish as the store's owner"
        case errors.AdminShutdown() | errors.CrashShutdown():
            return f"it was stopped in the middle ({first})"
        case errors.InvalidSchemaName() | errors.UndefinedTable():
            return f"it is not set up ({first}); `ddu store up` does so"
        case psycopg.OperationalError():
            return f"the connection was lost ({first})"
    return first


def _not_connected(where: str, error: psycopg.Error) -> StoreError:
    text = str(error).strip()
    if "password authentication failed" in text or "no password supplied" in text:
        wrong = "wrong user or password; `ddu store status` prints where the right one is kept"
        return StoreError(f"{where}: {wrong}")
    if "does not exist" in text:
        missing = text.splitlines()[-1].split("FATAL:")[-1].strip()
        return StoreError(f"{where}: {missing}; `ddu store up` makes it")
    if "Connection refused" in text or "timeout expired" in text or "No such file" in text:
        return StoreAway(f"{where}: nobody answers; `ddu store up` brings it up")
    return StoreAway(f"{where}: {text.splitlines()[-1] if text else type(error).__name__}")
