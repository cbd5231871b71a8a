# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL for tests: made as `ddu store up` makes one, in a directory of its own."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from ddu.errors import StoreError
from ddu.store import private
from ddu.store.connect import connected
from ddu.store.directory import READER, Address, StoreDirectory
from ddu.store.service import up
from testsupport.ports import free_port


@contextmanager
def fresh_store(parent: Path | None = None) -> Iterator[StoreDirectory]:
    """A store on a free port, gone afterwards."""
    try:
        private.program("initdb")
    except StoreError as error:
        pytest.skip(f"{error} (setup/system-packages test)")
    with _folder(parent) as directory:
        copy_empty_store(directory)
        with _running(directory) as place:
            yield place


def copy_empty_store(directory: Path) -> None:
    """Put a store that is down and has no runs into a directory."""
    subprocess.run(["cp", "-a", f"{_empty_store()}/.", directory], check=True)


@cache
def _empty_store() -> Path:
    """Make a store that is down, of which all others are copies: initdb and the migrations take
    longer than all that most tests do."""
    made, kept = (_until_the_end.enter_context(_folder()) for _ in range(2))
    with _running(made):
        pass
    # Half of it is zeros, which are not copied from then on.
    subprocess.run(["cp", "-a", "--sparse=always", f"{made}/.", kept], check=True)
    return kept


_until_the_end = ExitStack()
atexit.register(_until_the_end.close)


@contextmanager
def _folder(parent: Path | None = None) -> Iterator[Path]:
    # PostgreSQL runs as somebody else when we are root, whom pytest's own directory keeps out.
    directory = Path(tempfile.mkdtemp(prefix="ddu-store-", dir=parent))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _running(directory: Path) -> Iterator[StoreDirectory]:
    place = StoreDirectory(directory)
    try:
        up(place, Address("private", port=free_port()))
        yield place
    finally:
        private.stop(place)


def row_count(url: str, table: str) -> int:
    """Return how many rows a table of the store has."""
    with connected(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM testbed.{table}".encode()).fetchone()
        assert row is not None
        return int(row[0])


def reader_url(place: StoreDirectory) -> str:
    """Return the connection that Grafana uses."""
    address = place.address()
    secret = place.password("reader")
    return f"postgresql://{READER}:{secret}@{address.host}:{address.port}/testbed"
