# SPDX-License-Identifier: Apache-2.0
"""Lets the tests import the synthetic runs that stand beside them; a store that they share."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "benchmarks"))

from ddu.store.place import Place


@pytest.fixture(scope="session")
def shared_store() -> Iterator[Place]:
    """Started once; tests that use it clean it, or stop no server."""
    from store_server import fresh_store

    with fresh_store() as place:
        yield place


@pytest.fixture
def empty_store(shared_store: Place) -> Place:
    """The shared store without runs."""
    from ddu.store.connect import connected

    with connected(shared_store.url()) as connection:
        connection.execute("TRUNCATE testbed.run, testbed.experiment, testbed.campaign CASCADE")
    return shared_store
