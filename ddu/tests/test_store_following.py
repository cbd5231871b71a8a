# SPDX-License-Identifier: Apache-2.0
"""A campaign is followed with as many runs at a time as its machines do, whatever ends them."""

from __future__ import annotations

import fcntl
import json
import threading
from pathlib import Path

import pytest

from ddu.campaign.lock import is_worked_on
from ddu.store.connect import connected
from ddu.store.directory import StoreDirectory
from ddu.store.following import follow_campaign
from testsupport.store_runs import say, tabled, two_flows, with_radio
from testsupport.waiting import until

CELLS = ("cc=cubic,seed=1", "cc=bbr,seed=1", "cc=reno,seed=1")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Three cells, planned only."""
    directory = tmp_path / "campaign"
    directory.mkdir()
    factors = {"cc": {"cubic": {}, "bbr": {}, "reno": {}}}
    definition = {"name": "fig3", "title": "Three", "factors": factors, "repeats": 1}
    content = {"schema_version": 1, "campaign": definition}
    (directory / "campaign.json").write_text(json.dumps(content))
    return directory


def begin(campaign: Path, cell: str) -> Path:
    """A run of `cell` that goes on; whole when it comes to where followers look."""
    folder = campaign / "runs" / cell
    folder.mkdir(parents=True, exist_ok=True)
    name = f"run-{len(list(folder.iterdir()))}"
    made = tabled(with_radio(two_flows(20).write(campaign / "made" / cell)))
    say(made, run=name, status="running", verdict=None)
    return made.rename(folder / name)


def states(place: StoreDirectory) -> dict[str, str]:
    with connected(place.url()) as connection:
        rows = connection.execute("SELECT name, state FROM testbed.run").fetchall()
    return {str(name): str(state) for name, state in rows}


class Following(threading.Thread):
    """`ddu publish --live CAMPAIGN`."""

    def __init__(self, place: StoreDirectory, campaign: Path) -> None:
        super().__init__(daemon=True)
        self.lines: list[str] = []
        self.published: int | None = None
        self._place, self._campaign = place, campaign
        self.start()

    def run(self) -> None:
        ended = follow_campaign(self._place.url(), self._campaign, self.lines.append)
        self.published, self.refused = ended


def test_runs_of_several_machines_are_seen_at_once(
    empty_store: StoreDirectory, campaign: Path
) -> None:
    following = Following(empty_store, campaign)
    runs = [begin(campaign, cell) for cell in CELLS]
    names = [f"fig3/{cell}/run-0" for cell in CELLS]
    until(lambda: states(empty_store) == dict.fromkeys(names, "live"))
    # The last to begin ends first; one fails, and is tried again.
    say(runs[2], status="finished", verdict="degraded")
    say(runs[1], status="failed", failure={"stage": "link", "reason": "x"})
    until(
        lambda: (
            states(empty_store) == {names[0]: "live", names[1]: "published", names[2]: "published"}
        )
    )
    again = begin(campaign, CELLS[1])
    with_it = {**states(empty_store), f"fig3/{CELLS[1]}/run-1": "live"}
    until(lambda: states(empty_store) == with_it)
    for run in (again, runs[0]):
        say(run, status="finished", verdict="valid")
    following.join(600)
    assert following.published == 4
    assert set(states(empty_store).values()) == {"published"}
    assert "3 of 3 cells have a result" in following.lines[-1]


def test_it_ends_when_ccu_has_left_and_what_stands_still_goes(
    empty_store: StoreDirectory, campaign: Path
) -> None:
    with (campaign / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert is_worked_on(campaign)
        following = Following(empty_store, campaign)
        # Its machine dies; another does one more, and a third is not begun.
        begin(campaign, CELLS[0])
        run = begin(campaign, CELLS[1])
        until(lambda: states(empty_store) == {f"fig3/{cell}/run-0": "live" for cell in CELLS[:2]})
        say(run, status="finished", verdict="valid")
    assert not is_worked_on(campaign)
    following.join(600)
    assert following.published == 1
    assert states(empty_store) == {f"fig3/{CELLS[1]}/run-0": "published"}


def test_a_campaign_that_is_complete_is_published_and_done(
    empty_store: StoreDirectory, campaign: Path
) -> None:
    for cell in CELLS:
        say(begin(campaign, cell), status="finished", verdict="valid")
    assert follow_campaign(empty_store.url(), campaign, lambda _: None) == (3, 0)
    assert len(states(empty_store)) == 3
