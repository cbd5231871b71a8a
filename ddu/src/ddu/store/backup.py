# SPDX-License-Identifier: Apache-2.0
"""Backup of the whole store in a file, and its restoration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO, Any

from ddu.console.machine_errors import FIXES
from ddu.errors import StoreError, StoreRefused
from ddu.run.durable import replacing
from ddu.store import docker, private
from ddu.store.connect import connected
from ddu.store.directory import DATABASE, OWNER, StoreDirectory
from ddu.store.roles import provide_reader
from ddu.store.schema import migrate, version_of


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
    """Replace the contents of the store by a backup, in one transaction.

    Raises StoreError if the store holds runs (unless `replace`) or `file` is not a backup;
    the store is then as it was.
    """
    with connected(place.url()) as connection:
        if version_of(connection):
            row = connection.execute("SELECT count(*) FROM testbed.run").fetchone()
            runs = int(row[0]) if row else 0
            if runs and not replace:
                raise StoreRefused(
                    f"the store holds {runs} runs, which {file} would replace",
                    "add --replace to replace them",
                )
    try:
        with file.open("rb") as stream:
            if os.pread(stream.fileno(), 5, 0) != b"PGDMP":
                raise StoreRefused(
                    "not a backup of a store", "give a file of `ddu store backup`", file=file
                )
            _run(
                place, "pg_restore",
                ["--single-transaction", "--clean", "--if-exists", "--no-owner", "--no-acl",
                 "--exit-on-error", f"--dbname={DATABASE}"], stdin=stream,
            )  # fmt: skip
    except OSError as error:
        raise StoreRefused(error.strerror or str(error), file=file) from None
    with connected(place.url()) as connection:
        migrate(connection)
    provide_reader(place)


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
        command = [str(private.program(program)), *arguments, *where, *reach]
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
