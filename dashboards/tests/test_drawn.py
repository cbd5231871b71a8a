# SPDX-License-Identifier: Apache-2.0
"""Every dashboard as Grafana's own components draw it of a recorded run, in a browser (dashboards/grafana)."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from playwright.sync_api import Locator

from boards.names import DELAY_CLASSES_MS
from boards.reminis import ZONES
from boards.style import LATE, VERDICTS, WARN
from ddu.report.palette import colour_of
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


def recorded(folder: Path, name: str, **changes: Any) -> Path:
    """Copy the recorded run, with other values in its manifest."""
    run = folder / name
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
        publish(place.url(), tabled(recorded(folder, "alone", run="alone")))
        degraded = recorded(cell, "run", run="degraded", verdict="degraded", verdict_reasons=["late"])
        (folder / "c" / "campaign.json").write_text(json.dumps(campaign))
        (cell / "cell.json").write_text(json.dumps({"levels": {"cc": "reminis", "aqm": "codel"}}))
        publish(place.url(), tabled(degraded))
        followed(place.url(), recorded(folder, "live", run="live", status="running"))
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
            assert len(page.colours(panel["id"])) > 1, f"{about}: only a grid"
        else:
            assert len(shown.splitlines()) > 1, f"{about}: nothing below the title"


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    """The recorded run's metrics, as `ddu analyze` wrote them."""
    content: dict[str, Any] = json.loads((GOLDEN / "summary.json").read_text())
    return content


def number_of(board: str, title: str, kind: str) -> int:
    (panel,) = [one for one in NAMED[board].panels if (one["title"], one["type"]) == (title, kind)]
    number: int = panel["id"]
    return number


def run_number(page: BoardPage, name: str) -> str:
    (row,) = page.reader.execute("SELECT run_id::text FROM testbed.run WHERE name = %s", [name]).fetchall()
    return str(row[0])


def draw(page: BoardPage, board: str, mode: Mode = "light", **fixed: list[str]) -> None:
    page.draw(NAMED[board], over(page, NAMED[board]), mode, **fixed)


def test_numbers_have_units(page: BoardPage, summary: dict[str, Any]) -> None:
    draw(page, "run", run=[run_number(page, "alone")])
    for title, expected in (
        ("Throughput", f"{summary['throughput_bps'] / 1e6:.1f} Mb/s"),
        ("Utilisation", f"{summary['utilisation_ratio'] * 100:.1f}%"),
        ("RTT, median", f"{summary['rtt_ms']['p50']:.1f} ms"),
        ("RTT, 95 %", f"{summary['rtt_ms']['p95']:.1f} ms"),
        ("Retransmissions", str(summary["retransmissions_count"])),
    ):
        shown = page.panel(number_of("run", title, "stat")).inner_text()
        assert "".join(shown.split()) == "".join(f"{title}{expected}".split())


def test_axes_have_units(page: BoardPage) -> None:
    draw(page, "run", run=[run_number(page, "alone")])
    for title, label in (
        ("Throughput", "10 Mb/s"),
        ("RTT", "40 ms"),
        ("Congestion window", "100 kB"),
        ("Retransmissions", "50 c/s"),
        ("RSRP", "-50 dBm"),
        ("SINR", "20 dB"),
        ("BLER", "20%"),
    ):
        assert label in page.plotted(number_of("run", title, "timeseries")), title


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_lines_have_the_colour_of_their_congestion_control(page: BoardPage, mode: Mode) -> None:
    draw(page, "run", mode, run=[run_number(page, "alone")])
    panel = number_of("run", "Throughput", "timeseries")
    assert {colour_of("cubic"), colour_of("reminis")} <= page.colours(panel)
    assert page.panel(panel).inner_text().split("\n")[1:] == ["cubic f1", "reminis f0"]


def test_verdicts_and_zones_are_mapped(page: BoardPage) -> None:
    draw(page, "run", run=[run_number(page, "c/cell/degraded")])
    verdict = page.panel(number_of("run", "Verdict", "stat")).get_by_text("degraded")
    assert hex_of(verdict) == VERDICTS["degraded"]
    draw(page, "reminis", run=[run_number(page, "alone")])
    zones = page.panel(number_of("reminis", "Zone", "state-timeline")).inner_text()
    assert ZONES["1"][0] in zones


def test_thresholds_colour_numbers_and_draw_lines(page: BoardPage, summary: dict[str, Any]) -> None:
    draw(page, "run", run=[run_number(page, "alone")])
    _, second, third = DELAY_CLASSES_MS
    assert second < summary["rtt_ms"]["p50"] < third
    number = page.panel(number_of("run", "RTT, median", "stat"))
    assert hex_of(number.get_by_text(f"{summary['rtt_ms']['p50']:.1f}")) == LATE
    dashed = [
        f"rgba({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))}, 0.7)" for colour in (WARN, LATE)
    ]
    assert set(dashed) <= page.colours(number_of("run", "RTT", "timeseries"))
    assert not set(dashed) & page.colours(number_of("run", "Congestion window", "timeseries"))


def test_cells_and_congestion_controls_are_a_matrix(page: BoardPage, summary: dict[str, Any]) -> None:
    draw(page, "campaign", campaign=["c"])
    matrix = page.panel(number_of("campaign", "Throughput by cell and congestion control", "table")).inner_text()
    rate = f"{summary['throughput_bps'] / 1e6:.2f} Mb/s"
    assert matrix.split("\n")[1:] == ["cell\\cc", "reminis+cubic", "aqm=codel", rate]
    done = page.panel(number_of("campaign", "Done", "stat")).inner_text()
    assert "".join(done.split()) == "Done25%"


def test_links_lead_to_the_run_and_its_files(page: BoardPage) -> None:
    alone = run_number(page, "alone")
    draw(page, "run", run=[alone])
    table = page.panel(number_of("run", "What was run", "table"))
    links = table.locator("a").evaluate_all("links => links.map(link => [link.innerText, link.getAttribute('href')])")
    assert dict(links) == {
        "alone": f"/d/testbed-compare?var-run={alone}",
        "report": "http://127.0.0.1:8090/runs/alone/report.html",
        "CSV": "http://127.0.0.1:8090/runs/alone/tables/aligned.csv",
    }
    draw(page, "compare")
    table = page.panel(number_of("compare", "Runs", "table"))
    milliseconds = round(json.loads((GOLDEN / "summary.json").read_text())["duration_s"] * 1000)
    link = table.locator("a", has_text="alone").get_attribute("href")
    assert link == f"/d/testbed-run?var-run={alone}&from=0&to={milliseconds}"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_numbers_stand_out_in_both_themes(page: BoardPage, mode: Mode) -> None:
    for name in ("run", "campaign", "health"):
        draw(page, name, mode)
        for panel in NAMED[name].panels:
            if panel["type"] == "stat":
                shown = page.panel(panel["id"])
                ground = shown.evaluate(GROUND)
                value = shown.get_by_text(shown.inner_text().split("\n")[1], exact=True)
                # WCAG 2.2, 1.4.3, for large text.
                assert contrast(rgb(value.evaluate(INK)), rgb(ground)) >= 3, f"{name}: {panel['title']}"


def test_series_stand_out_in_the_dark(page: BoardPage) -> None:
    for name in ("run", "reminis", "health", "radio"):
        draw(page, name, "dark")
        for panel in NAMED[name].panels:
            if panel["type"] == "timeseries":
                shown = page.panel(panel["id"])
                ground = rgb(shown.evaluate(GROUND))
                colours = shown.get_by_test_id("series-icon").evaluate_all(FILLS)
                assert colours, f"{name}: {panel['title']}: no legend"
                for colour in colours:
                    # WCAG 2.2, 1.4.11, for graphics.
                    assert contrast(rgb(colour), ground) >= 3, f"{name}: {panel['title']}: {colour}"


INK = "element => getComputedStyle(element).color"
FILLS = "elements => elements.map(element => getComputedStyle(element).backgroundColor)"
GROUND = "element => getComputedStyle(element.querySelector('section')).backgroundColor"


def rgb(css: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", css)[:3]]


def hex_of(element: Locator) -> str:
    return "#" + "".join(f"{part:02x}" for part in rgb(element.evaluate(INK)))


def contrast(*colours: list[int]) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""

    def luminance(colour: list[int]) -> float:
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)
