# SPDX-License-Identifier: Apache-2.0
"""Every dashboard as Grafana's own components draw it of a recorded run, in a browser (dashboards/grafana)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from ddu.store.connect import connected
from ddu.store.publish import publish
from testsupport.browser import TOO_WIDE, chromium, served
from testsupport.drawn_boards import GRAFANA, BoardPage, Mode, page_folder
from testsupport.panel_queries import Board, Range, boards
from testsupport.store_runs import followed, tabled
from testsupport.store_server import fresh_store, reader_url

ROOT = GRAFANA.parents[1]
GOLDEN = ROOT / "tests" / "golden_runs" / "emulated"
"""Reminis and CUBIC for 3 s over 11 PRB; the machine kept up."""

NAMED = {board.name: board for board in boards()}
NOT_EXPORTED = {"barchart", "heatmap", "state-timeline", "xychart"}
NOT_IN_DATA = {"partitionByValues"}
ONE_CELL = {"Serving cell", "Events of the connection"}
"""The recorded run has one cell."""


def recorded(folder: Path, **changes: Any) -> Path:
    """Copy the recorded run, with other values in its manifest."""
    run = folder / "run"
    run.mkdir(parents=True)
    shutil.copytree(GOLDEN / "raw", run / "raw")
    manifest = json.loads((GOLDEN / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(manifest | changes))
    return run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardPage]:
    """Open the page over a store with the recorded run by itself, degraded in a campaign, and in progress."""
    folder = tmp_path_factory.mktemp("recorded")
    campaign = {"schema_version": 1, "campaign": {"name": "c", "title": "c", "factors": {"cc": ["reminis"]}}}
    cell = folder / "c" / "runs" / "cell"
    with ExitStack() as until_end:
        place = until_end.enter_context(fresh_store())
        browser = until_end.enter_context(chromium())
        address = until_end.enter_context(served(page_folder()))
        publish(place.url(), tabled(recorded(folder / "alone", run="alone")))
        degraded = recorded(cell, run="degraded", verdict="degraded", verdict_reasons=["late"])
        (folder / "c" / "campaign.json").write_text(json.dumps(campaign))
        (cell / "cell.json").write_text(json.dumps({"levels": {"cc": "reminis", "aqm": "codel"}}))
        publish(place.url(), tabled(degraded))
        followed(place.url(), recorded(folder / "live", run="live", status="running"))
        with connected(place.url()) as owner:
            owner.execute("INSERT INTO testbed.campaign (name, directory, planned_count, definition) "
                          "VALUES ('c', '/c', 4, '{}')")  # fmt: skip
        reader = until_end.enter_context(psycopg.connect(reader_url(place), autocommit=True))
        yield BoardPage(browser, address, reader)


def over(page: BoardPage, board: Board) -> Range:
    """Return the time that the board shows: the run's own, or in Live that of the day."""
    if board.name != "live":
        return Range(0, 3.2)
    first, last = page.reader.execute(
        "SELECT extract(epoch FROM min(time))::float8, extract(epoch FROM max(time))::float8 FROM testbed.live_radio"
    ).fetchone() or (0, 0)
    return Range(first, last)


def test_the_components_are_of_the_version_that_the_container_runs() -> None:
    image = yaml.safe_load((ROOT / "containers" / "store.yml").read_text())["services"]["grafana"]["image"]
    packages = json.loads((GRAFANA / "package.json").read_text())["dependencies"]
    versions = {packages[f"@grafana/{name}"] for name in ("data", "schema", "ui")}
    assert [f"grafana/grafana:{version}@" in image for version in versions] == [True]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("name", NAMED)
def test_every_panel_is_drawn(page: BoardPage, name: str, mode: Mode) -> None:
    board = NAMED[name]
    panels = page.draw(board, over(page, board), mode)
    assert page.complaints == []
    assert page.page.evaluate(TOO_WIDE) <= 0
    assert [panel["id"] for panel in panels] == [panel["id"] for panel in board.panels]
    assert {panel["title"] for panel in panels if not panel["hasData"]} <= ONE_CELL
    assert {lacking for panel in panels for lacking in panel["lacking"]} <= NOT_IN_DATA
    for panel in board.panels:
        about = f"{panel['title']} ({panel['type']})"
        shown = page.panel(panel["id"]).inner_text()
        if panel["type"] in NOT_EXPORTED:
            assert f"@grafana/ui does not export {panel['type']}" in shown, about
        elif panel["type"] == "timeseries":
            assert page.plotted(panel["id"]), f"{about}: no axis"
            assert len(page.strokes(panel["id"])) > 1, f"{about}: no line"
        else:
            assert len(shown.splitlines()) > 1, f"{about}: nothing below the title"
