# SPDX-License-Identifier: Apache-2.0
"""Campaigns and stores that earlier revisions made are read, and those of newer ones refused.

data/upgrade holds what those revisions wrote, by their commit. Runs of earlier revisions are in
tests/golden_runs (ddu) and ccu/tests/data/runs-before-drivers (ccu).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddu.campaign.load import read_definition
from ddu.console.problems import RefusedError
from ddu.store.connect import Connection, connected
from ddu.store.directory import StoreDirectory
from ddu.store.publish import publish
from ddu.store.schema import migrate, migrations, version_of
from testsupport.store_runs import tabled, two_flows
from testsupport.store_server import fresh_store

UPGRADE = Path(__file__).parent / "data" / "upgrade"
CAMPAIGNS = sorted(UPGRADE.glob("campaign-*.json"))
STORES = sorted(UPGRADE.glob("store-*.sql"))
OLD_RUN = (
    "INSERT INTO testbed.experiment (digest, resolved) VALUES ('e', '{}')",
    "INSERT INTO testbed.run (name, experiment_id, state, directory, status, cc, direction, "
    "manifest) SELECT 'old', experiment_id, 'published', '/old', 'finished', 'cubic', 'dl', '{}' "
    "FROM testbed.experiment",
)


@pytest.mark.parametrize("record", CAMPAIGNS, ids=lambda file: file.stem)
def test_a_campaign_of_an_earlier_revision_is_read(record: Path, tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(record.read_text())
    campaign, _ = read_definition(tmp_path)
    assert campaign.factors == {
        "prb": {"24": {"prb": 24}, "51": {"prb": 51}},
        "cc": {"cubic": {"cc": "cubic"}, "reno": {"cc": "reno"}},
    }
    assert campaign.repeats == 2


def test_a_campaign_of_a_newer_revision_is_refused_with_one_sentence(tmp_path: Path) -> None:
    content = json.loads(CAMPAIGNS[0].read_text())
    (tmp_path / "campaign.json").write_text(json.dumps(content | {"schema_version": 2}))
    with pytest.raises(RefusedError) as refused:
        read_definition(tmp_path)
    (problem,) = refused.value.problems
    assert problem.rule.startswith("schema_version 2 is newer than 1, the newest that this")


@pytest.fixture(scope="module")
def own_store() -> Iterator[StoreDirectory]:
    with fresh_store() as place:
        yield place


def columns(connection: Connection) -> set[tuple[object, ...]]:
    """Return every column of the schema, with its table and type."""
    return set(
        connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = 'testbed'"
        ).fetchall()
    )


@pytest.mark.parametrize("schema", STORES, ids=lambda file: file.stem)
def test_a_store_of_an_earlier_revision_is_migrated_with_its_runs(
    own_store: StoreDirectory, schema: Path, tmp_path: Path
) -> None:
    run = tabled(two_flows(60).write(tmp_path / "run"))
    newest = migrations()[-1].version
    with connected(own_store.url()) as connection:
        connection.execute("DROP SCHEMA IF EXISTS testbed CASCADE")
        migrate(connection)
        ours = columns(connection)
        connection.execute("DROP SCHEMA testbed CASCADE")
        connection.execute("CREATE SCHEMA testbed")
        connection.execute(
            "CREATE TABLE testbed.migration (version integer PRIMARY KEY, "
            "name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())"
        )
        connection.execute(schema.read_bytes())
        names = [line[3:] for line in schema.read_text().splitlines() if line.endswith(".sql")]
        for name in names:
            connection.execute(
                "INSERT INTO testbed.migration (version, name) VALUES (%s, %s)",
                [int(name[:3]), name],
            )
        for statement in OLD_RUN:
            connection.execute(statement.encode())
        assert version_of(connection) == len(names) < newest
    assert publish(own_store.url(), run).outcome == "published"
    with connected(own_store.url()) as connection:
        assert version_of(connection) == newest
        there = connection.execute("SELECT name, status FROM testbed.run ORDER BY run_id")
        assert there.fetchall() == [("old", "finished"), ("synthetic", "finished")]
        assert columns(connection) >= ours
