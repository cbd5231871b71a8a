# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL for tests: made as `ddu store up` makes one, in a directory of its own."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ddu.errors import StoreError
from ddu.store import private
from ddu.store.directory import READER, Address, StoreDirectory
from ddu.store.service import up


@contextmanager
def fresh_store(parent: Path | None = None) -> Iterator[StoreDirectory]:
    """A store on a free port, gone afterwards."""
    try:
        private.program("initdb")
    except StoreError as error:
        pytest.skip(f"{error} (setup/system-packages test)")
    # PostgreSQL runs as somebody else when we are root, whom pytest's own directory keeps out.
    directory = Path(tempfile.mkdtemp(prefix="ddu-store-", dir=parent))
    directory.chmod(0o755)
    place = StoreDirectory(directory)
    try:
        up(place, Address("private", port=free_port()))
        yield place
    finally:
        private.stop(place)
        shutil.rmtree(directory, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def reader_url(place: StoreDirectory) -> str:
    """Return the connection that Grafana uses."""
    address = place.address()
    secret = place.password("reader")
    return f"postgresql://{READER}:{secret}@{address.host}:{address.port}/testbed"
