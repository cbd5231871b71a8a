# SPDX-License-Identifier: Apache-2.0
"""A store that the tests share."""

from collections.abc import Iterator

import pytest

from ddu.store.directory import StoreDirectory


@pytest.fixture(scope="session")
def shared_store() -> Iterator[StoreDirectory]:
    """Started once; tests that use it clean it, or stop no server."""
    from testsupport.store_server import fresh_store

    with fresh_store() as place:
        yield place


@pytest.fixture
def own_store() -> Iterator[StoreDirectory]:
    """One that a test may stop and break."""
    from testsupport.store_server import fresh_store

    with fresh_store() as place:
        yield place


@pytest.fixture
def empty_store(shared_store: StoreDirectory) -> StoreDirectory:
    """The shared store without runs."""
    from ddu.store.connect import connected

    with connected(shared_store.url()) as connection:
        connection.execute("TRUNCATE testbed.run, testbed.experiment, testbed.campaign CASCADE")
    return shared_store
