# SPDX-License-Identifier: Apache-2.0
"""Publishing a campaign (docs/campaigns.md): its runs, and how many are planned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from psycopg.types.json import Jsonb

from ddu.campaign.load import load_campaign
from ddu.console.problems import RefusedError
from ddu.run.manifest import read_manifest
from ddu.store.connect import connected
from ddu.store.publish import Published, publish
from ddu.store.schema import migrate


def is_campaign(path: Path) -> bool:
    return (path / "campaign.json").is_file()


def runs_of(path: Path) -> list[Path]:
    """Return the run directories of a campaign, the oldest first."""
    directories = (file.parent for file in path.glob("runs/*/*/run.json"))
    return sorted(directories, key=lambda run: (run.name, run.parent.name))


def publish_campaign(
    url: str, path: Path, replace: bool = False
) -> Iterator[Published | RefusedError]:
    """Publish the runs that have ended; yield an error in place of a run that cannot be
    published."""
    record_campaign(url, path)
    for run in runs_of(path):
        try:
            if read_manifest(run).status != "running":
                yield publish(url, run, replace)
        except RefusedError as error:
            error.exit_code = 1  # Begun: the campaign is in the store.
            yield error


class Recorded(NamedTuple):
    """A campaign as the store knows it."""

    name: str
    planned: int
    """The number of cells."""


def record_campaign(url: str, path: Path) -> Recorded:
    """Writes the campaign's row. Raises RefusedError."""
    campaign = load_campaign(path)
    name, planned = campaign.definition.full_name, campaign.planned_count
    definition = Jsonb(campaign.definition.model_dump(mode="json"))
    with connected(url) as connection:
        migrate(connection)
        connection.execute(
            "INSERT INTO testbed.campaign (name, directory, planned_count, definition) "
            "VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET "
            "directory = excluded.directory, planned_count = excluded.planned_count, "
            "definition = excluded.definition, updated = clock_timestamp()",
            [name, str(path.absolute()), planned, definition],
        )
    return Recorded(name, planned)
