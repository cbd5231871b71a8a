# SPDX-License-Identifier: Apache-2.0
"""Backup of the whole store in a file, and its restoration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ddu.console.machine_errors import FIXES
from ddu.errors import StoreError, StoreRefused
from ddu.run.durable import replacing
from ddu.store import docker, private
from ddu.store.connect import Connection, connected
from ddu.store.directory import DATABASE, OWNER, StoreDirectory
from ddu.store.roles import provide_reader
from ddu.store.schema import keep_others_from_migrating, migrate, version_of

_BEFORE = "testbed_before"
"""The schema of what was in the store, while a backup is restored."""


def backup(place: StoreDirectory, file: Path) -> int:
    """Write the store as it is at one instant to `file`, whole or not at all; return the bytes."""
    with connected(place.url()):
        pass  # Raises our own error if the store does not answer.
    try:
        with replacing(file) as stream:
            _run(place, "pg_dump", ["--format=custom", "--schema=testbed"], stdout=stream)
    except OSError as error:
        kind = StoreError if error.errno in FIXES else StoreRefused
        raise kind(f"cannot be written ({error.strerror})", file=file) from None
    return file.stat().st_size


def restore(place: StoreDirectory, file: Path, replace: bool) -> None:
    """Replace the contents of the store by a backup, which may be of an older ddu.

    Raises StoreError if the store holds runs (unless `replace`), or if `file` is not a backup or is
    one of a newer ddu; the store is then as it was.
    """
    with (
        connected(place.url(), autocommit=True) as connection,
        _opened(file) as stream,
    ):
        keep_others_from_migrating(connection)
        put_back(connection)
        with _set_aside(connection, lambda: _refuse_runs(connection, file, replace)):
            _read(place, stream)
            with connection.transaction():
                migrate(connection)
    provide_reader(place)


def _opened(file: Path) -> IO[bytes]:
    try:
        stream = file.open("rb")
        if os.pread(stream.fileno(), 5, 0) == b"PGDMP":
            return stream
        stream.close()
    except OSError as error:
        raise StoreRefused(error.strerror or str(error), file=file) from None
    raise StoreRefused("not a backup of a store", "give a file of `ddu store backup`", file=file)


def _refuse_runs(connection: Connection, file: Path, replace: bool) -> None:
    runs = _runs(connection)
    if runs and not replace:
        rule = f"the store holds {runs} runs, which {file} would replace"
        raise StoreRefused(rule, "add --replace to replace them")


def _runs(connection: Connection) -> int:
    if not version_of(connection):
        return 0
    row = connection.execute("SELECT count(*) FROM testbed.run").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _set_aside(connection: Connection, check: Callable[[], None]) -> Iterator[None]:
    """Rename the schema for the block; remove it afterwards, or put it back if the block fails.

    What a later version of the schema has besides would stand in the way of an older backup.
    """
    if _has(connection, "testbed"):
        with connection.transaction():
            if version_of(connection):
                # What others are publishing just now ends first, and counts.
                connection.execute("LOCK TABLE testbed.run")
            check()
            connection.execute(f"ALTER SCHEMA testbed RENAME TO {_BEFORE}")
    try:
        yield
    except BaseException:
        connection.execute("DROP SCHEMA IF EXISTS testbed CASCADE")
        put_back(connection)
        raise
    connection.execute(f"DROP SCHEMA IF EXISTS {_BEFORE} CASCADE")


def put_back(connection: Connection) -> None:
    """Put back the contents that a restoration has set aside, if one was killed before its end.

    Raises StoreRefused if runs were published since.
    """
    if not _has(connection, _BEFORE):
        return
    if runs := _runs(connection):
        rule = f"{runs} runs were published since a restoration was killed, which has set aside"
        fix = "remove one of the two schemas with psql"
        raise StoreRefused(f"{rule} what was there before in the schema {_BEFORE}", fix)
    connection.execute("DROP SCHEMA IF EXISTS testbed CASCADE")
    connection.execute(f"ALTER SCHEMA {_BEFORE} RENAME TO testbed")


def _has(connection: Connection, schema: str) -> bool:
    row = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", [schema]).fetchone()
    return row is not None and bool(row[0])


def _read(place: StoreDirectory, stream: IO[bytes]) -> None:
    _run(
        place, "pg_restore",
        ["--single-transaction", "--no-owner", "--no-acl", "--exit-on-error",
         f"--dbname={DATABASE}"], stdin=stream,
    )  # fmt: skip


def _run(
    place: StoreDirectory,
    program: str,
    arguments: list[str],
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
) -> None:
    """Run one of PostgreSQL's programs, beside the server, so that their versions agree, and with
    the rights of the server's user: it reads what others may have written."""
    address = place.address()
    reach = [f"--username={OWNER}", *([] if "--dbname" in str(arguments) else [DATABASE])]
    environment, rights = dict(os.environ), dict[str, Any]()
    if address.kind == "docker":
        command = docker.inside(program, *arguments, *reach)
        environment = docker.environment(place, address)
    else:
        where = [f"--host={address.host}", f"--port={address.port}", "--no-password"]
        command = [str(private.program(program, place.data)), *arguments, *where, *reach]
        environment["PGPASSWORD"] = place.password("owner")
        environment.pop("HOME", None)  # Root's, which that user may not enter.
        rights = {"cwd": "/", **private.rights()}
    ran = subprocess.run(
        command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment, check=False,
        **rights,
    )  # fmt: skip
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.decode(errors="replace").splitlines() if line.strip()]
        why = next((line for line in lines if "error:" in line), lines[0] if lines else "failed")
        raise StoreError(why.partition("error: ")[2] or why, key=program)
