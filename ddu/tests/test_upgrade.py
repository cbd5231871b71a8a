# SPDX-License-Identifier: Apache-2.0
"""Campaigns and stores that earlier revisions made are read, and those of newer ones refused.

data/upgrade holds what those revisions wrote, by their commit. Runs of earlier revisions are in
tests/golden_runs (ddu) and ccu/tests/data/runs-before-drivers (ccu).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ddu.campaign.load import read_definition
from ddu.console.problems import RefusedError
from ddu.store.connect import Connection, connected
from ddu.store.directory import StoreDirectory
from ddu.store.publish import publish
from ddu.store.schema import migrate, migrations, version_of
from testsupport.store_runs import tabled, two_flows

UPGRADE = Path(__file__).parent / "data" / "upgrade"
CAMPAIGN = json.loads((UPGRADE / "campaign-45843fe.json").read_text())
CAMPAIGNS: dict[str, tuple[set[str], dict[str, object]]] = {
    "45843fe": (set(), {}),
    "fac3a45": ({"min_radio_time_factor"}, {}),
    "4a37939": ({"min_radio_time_factor", "keep"}, {"stop": None}),
}
"""The records by revision: the keys that it did not write, and those with another value."""
_, *_PARTS = re.split(
    r"^-- (\d{3}_\w+\.sql)$", (UPGRADE / "store-8bdbc35.sql").read_text(), flags=re.MULTILINE
)
MIGRATIONS = list(zip(_PARTS[::2], _PARTS[1::2], strict=True))
"""Name and content of each migration of revision 8bdbc35."""
BRIN = """
DROP INDEX testbed.{table}_run;
CREATE INDEX {table}_run ON testbed.{table}
    USING brin (run_id int4_minmax_multi_ops) WITH (pages_per_range = {pages}, autosummarize = on);
"""
STORES = {
    "8198e50": [
        *MIGRATIONS[:4],
        *(("", BRIN.format(table=f"{table}_sample", pages=pages))
          for table, pages in (("transport", 16), ("radio", 32), ("trust", 16), ("reminis", 16))),
    ],
    "8bdbc35": MIGRATIONS,
}  # fmt: skip
"""The schema by revision. The first had BRIN indices of the series."""
OLD_RUN = (
    "INSERT INTO testbed.experiment (digest, resolved) VALUES ('e', '{}')",
    "INSERT INTO testbed.run (name, experiment_id, state, directory, status, cc, direction, "
    "manifest) SELECT 'old', experiment_id, 'published', '/old', 'finished', 'cubic', 'dl', '{}' "
    "FROM testbed.experiment",
)


@pytest.mark.parametrize("revision", CAMPAIGNS)
def test_a_campaign_of_an_earlier_revision_is_read(revision: str, tmp_path: Path) -> None:
    lacks, other = CAMPAIGNS[revision]
    written = {key: one for key, one in CAMPAIGN["campaign"].items() if key not in lacks} | other
    (tmp_path / "campaign.json").write_text(json.dumps(CAMPAIGN | {"campaign": written}))
    campaign, _ = read_definition(tmp_path)
    assert campaign.factors == {
        "prb": {"24": {"prb": 24}, "51": {"prb": 51}},
        "cc": {"cubic": {"cc": "cubic"}, "reno": {"cc": "reno"}},
    }
    assert campaign.repeats == 2


def test_a_campaign_of_a_newer_revision_is_refused_with_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(json.dumps(CAMPAIGN | {"schema_version": 2}))
    with pytest.raises(RefusedError) as refused:
        read_definition(tmp_path)
    (problem,) = refused.value.problems
    assert problem.rule.startswith("schema_version 2 is newer than 1, the newest that this")


def columns(connection: Connection) -> set[tuple[object, ...]]:
    """Return every column of the schema, with its table and type."""
    return set(
        connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = 'testbed'"
        ).fetchall()
    )


@pytest.mark.parametrize("revision", STORES)
def test_a_store_of_an_earlier_revision_is_migrated_with_its_runs(
    own_store: StoreDirectory, revision: str, tmp_path: Path
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
        for _, content in STORES[revision]:
            connection.execute(content.encode())
        names = [name for name, _ in STORES[revision] if name]
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
