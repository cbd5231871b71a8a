# SPDX-License-Identifier: Apache-2.0
"""Dashboards drawn in a browser by Grafana's own components, with data of a store."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, Page

from testsupport.browser import complaints_of
from testsupport.panel_frames import Frame, frame
from testsupport.panel_queries import Board, Range, interpolated

ROOT = Path(__file__).parents[3]
GRAFANA = ROOT / "dashboards" / "grafana"

Mode = Literal["light", "dark"]

RECORD = """
window.canvasTexts = [];
window.canvasColours = [];
const {fillText, stroke, fill} = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
  canvasTexts.push([this.canvas, String(text)]);
  return fillText.call(this, text, ...where);
};
CanvasRenderingContext2D.prototype.stroke = function (...path) {
  canvasColours.push([this.canvas, this.strokeStyle]);
  return stroke.apply(this, path);
};
CanvasRenderingContext2D.prototype.fill = function (...path) {
  canvasColours.push([this.canvas, this.fillStyle]);
  return fill.apply(this, path);
};
"""
"""Plots are canvases: records their texts, and the colours of their lines and areas."""


@cache
def packages() -> Path:
    """Return the folder with Grafana's packages, installed as locked; skip where npm is missing."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs node and npm (setup/system-packages test)")
    installed, locked = (
        GRAFANA / "node_modules" / ".package-lock.json",
        GRAFANA / "package-lock.json",
    )
    if not installed.exists() or installed.stat().st_mtime < locked.stat().st_mtime:
        install = ["npm", "ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"]
        subprocess.run(install, cwd=GRAFANA, check=True)
    return GRAFANA


@cache
def page_folder() -> Path:
    """Return the folder of the page, bundled if a source is newer."""
    folder = ROOT / ".tools" / "dashboards"
    sources = [GRAFANA / "build.mjs", GRAFANA / "package-lock.json", *(GRAFANA / "page").iterdir()]
    made = folder / "index.html"
    if not made.exists() or made.stat().st_mtime < max(
        source.stat().st_mtime for source in sources
    ):
        subprocess.run(["node", packages() / "build.mjs", folder], check=True)
        made.touch()
    return folder


class BoardPage:
    """A page in a browser that draws one dashboard after the other.

    `address` serves `page_folder()`; `reader` answers the queries as the data source does.
    """

    def __init__(
        self, browser: Browser, address: str, reader: psycopg.Connection[Any], width: int = 1300
    ) -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900})
        self.complaints = complaints_of(self.page, own=address)
        self.reader = reader
        self._values: dict[str, list[str]] = {}
        self.page.add_init_script(RECORD)
        self.page.expose_function("query", self._query)
        self.page.goto(f"{address}/index.html")

    def draw(
        self, board: Board, over: Range, mode: Mode = "light", **fixed: list[str]
    ) -> list[dict[str, Any]]:
        """Draw a dashboard over the instants of `over`; return what the page says of each panel.

        Variables have the `fixed` values, else all values if they may have several, else the first.
        """
        several = {one["name"] for one in board.variables if one.get("multi")}
        values = board.values(self.reader, fixed)
        self._values = {
            name: all_ if name in several else all_[:1] for name, all_ in values.items()
        }
        asked = {
            "board": board.json,
            "from": over.start_s * 1000,
            "to": over.end_s * 1000,
            "mode": mode,
            "variables": self._values,
        }
        panels: list[dict[str, Any]] = self.page.evaluate("draw", asked)
        return panels

    def panel(self, number: int) -> Locator:
        """Return the panel that the dashboard gives this `id`."""
        return self.page.locator(f'[data-panel="{number}"]')

    def plotted(self, number: int) -> list[str]:
        """Return the texts in a panel's plot."""
        return self._of_canvas("canvasTexts", number)

    def colours(self, number: int) -> set[str]:
        """Return the colours of the lines and areas in a panel's plot."""
        return set(self._of_canvas("canvasColours", number))

    def _of_canvas(self, recorded: str, number: int) -> list[str]:
        of_panel = (
            f"number => {recorded}.filter(([canvas]) => canvas.isConnected && "
            "canvas.closest('[data-panel]')?.dataset.panel == number).map(([, what]) => what)"
        )
        what: list[str] = self.page.evaluate(of_panel, number)
        return what

    def _query(self, asked: dict[str, Any]) -> Frame:
        over = Range(asked["from"] / 1000, asked["to"] / 1000, round(asked["intervalMs"]))
        sql = interpolated(asked["sql"], self._values, over)
        return frame(self.reader.execute(sql.encode()), asked["format"])
