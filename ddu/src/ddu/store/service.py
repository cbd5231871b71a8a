# SPDX-License-Identifier: Apache-2.0
"""The store as a service of this machine: up, down, status."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ddu.errors import StoreAway
from ddu.store import docker, private
from ddu.store.backup import put_back
from ddu.store.connect import connected
from ddu.store.directory import Address, StoreDirectory
from ddu.store.roles import provide_owner, provide_reader
from ddu.store.schema import keep_others_from_migrating, migrate, migrations, version_of

_ANSWERS_WITHIN_S = 120
"""A container that is started for the first time makes its cluster before it answers."""


@dataclass(frozen=True)
class Up:
    address: Address
    new_passwords: dict[str, str]
    migrations: list[str]


def up(place: StoreDirectory, address: Address, grafana_port: int = 3000) -> Up:
    """Brings the store up, its schema up to date and Grafana's user right; again is harmless."""
    new = place.make_passwords()
    if address.kind == "docker":
        docker.start(place, address, grafana_port)
    else:
        private.start(place, address)
    place.remember(address)  # What runs can be stopped, whatever comes next.
    _await_answer(place)
    with connected(place.url()) as connection:
        keep_others_from_migrating(connection)
        put_back(connection)
        applied = migrate(connection)
    provide_reader(place)
    return Up(address, new, applied)


def down(place: StoreDirectory) -> bool:
    """Stop the store; the data stay. Return False if it was not running."""
    address = place.address()
    if address.kind == "docker":
        was = docker.running(place, address)
        docker.stop(place, address)
        return was
    return private.stop(place)


def status(url: str) -> dict[str, Any]:
    """Return the contents of the store. Raises StoreError when it does not answer."""
    with connected(url) as connection:
        version = version_of(connection)
        about: dict[str, Any] = {
            "server": f"PostgreSQL {connection.info.server_version // 10000}",
            "schema": version,
            "schema_known": migrations()[-1].version,
        }
        if version == 0:
            return about
        row = connection.execute(
            "SELECT count(*) FILTER (WHERE state = 'published'), "
            "count(*) FILTER (WHERE state = 'live'), "
            "pg_size_pretty(pg_database_size(current_database())) FROM testbed.run"
        ).fetchone()
        assert row is not None
        return about | dict(zip(("runs", "live", "size"), row, strict=True))


def _await_answer(place: StoreDirectory) -> None:
    """Make the publisher's role and database as soon as the server answers."""
    deadline = time.monotonic() + _ANSWERS_WITHIN_S
    while True:
        try:
            return provide_owner(place)
        except StoreAway:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.3)
