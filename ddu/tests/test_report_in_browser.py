# SPDX-License-Identifier: Apache-2.0
"""report.html as a browser shows it, on a screen and on a phone."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from ddu.api import analyze
from ddu.serve import server
from testsupport.browser import ANSWER_WITHIN_MS, TOO_WIDE, chromium, complaints_of
from testsupport.foreign_logs import full_run
from testsupport.synthetic_run import steady

DRAWN = 'html[data-figures="drawn"]'
LINES = 'document.querySelectorAll(".live .scatterlayer .trace path").length'
CUT = "[...document.querySelectorAll('.sheet')].filter(e => e.scrollWidth > e.clientWidth).length"
SMALLEST_PX = (
    "Math.min(...[...document.querySelectorAll('main *')].filter(e => e.childNodes.length && "
    "[...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())"
    " && !e.closest('svg') && e.offsetParent)"
    ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
)
VERDICT_Y = "document.querySelector('.verdict').getBoundingClientRect().bottom + scrollY"
IMAGES = "[...document.querySelectorAll('.sheet > img')].filter(i => i.offsetParent).length"
HANDOVER = (
    "[...document.querySelectorAll('.each tr:last-child td')]"
    ".map(e => [e.dataset.head, e.textContent])"
)
CUT_TEXT = (
    "[...document.querySelectorAll('.each td')].filter(e => e.scrollWidth > e.clientWidth).length"
)
RGB = "getComputedStyle({}).{}.match(/\\d+/g).map(Number)"
GROUND = RGB.format("document.body", "backgroundColor")
INK = RGB.format("document.querySelector('.live .legendtext')", "fill")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = full_run(tmp_path_factory.mktemp("reported"))
    analyze(run)
    return run / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser, whose pages share nothing with each other."""
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 420])
def test_no_complaint_and_every_figure_drawn(
    report: Path, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900}, is_mobile=width < 600, color_scheme=scheme
    )
    complaints = complaints_of(page)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector(DRAWN, state="attached")
    asked = [LINES, TOO_WIDE, SMALLEST_PX, VERDICT_Y, IMAGES, CUT]
    lines, too_wide, smallest_px, verdict_y, images, cut = map(page.evaluate, asked)
    directory = os.environ.get("DDU_SCREENSHOTS")
    screenshot = page.screenshot(full_page=directory is not None)
    if directory:
        (Path(directory) / f"report-{width}-{scheme}.png").write_bytes(screenshot)
    assert complaints == []
    assert lines >= 10
    assert too_wide <= 0, "the page scrolls sideways"
    assert cut == 0, "a figure or table is wider than its sheet"
    shown = dict(page.evaluate(HANDOVER))
    assert (shown["cells"], shown["procedure"], shown["interruption (ms)"]) == ("0 → 1", "a3", "10")
    assert page.evaluate(CUT_TEXT) == 0, "a value of a handover is cut"
    assert smallest_px >= 10
    assert verdict_y < 300, "the verdict is not on top"
    assert images == 0, "a drawn figure stands beside its zoomable one"
    assert screenshot.startswith(b"\x89PNG")
    light = [sum(pair) > 1.5 * 255 for pair in (page.evaluate(GROUND), page.evaluate(INK))]
    assert light == [scheme == "light", scheme == "dark"], "the page does not follow the theme"


def test_a_served_report_is_drawn_and_reads_no_other_page(report: Path, browser: Browser) -> None:
    with server(report.parents[1], "127.0.0.1", 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        own = f"http://127.0.0.1:{serving.server_address[1]}"
        page = browser.new_page()
        complaints = complaints_of(page, own)
        page.goto(f"{own}/runs/{report.parent.name}/report.html")
        page.wait_for_selector(DRAWN, state="attached")
        assert complaints == []
        assert page.evaluate("origin") == "null", "a page of another run could read this one"
        page.goto(f"{own}/runs/{report.parent.name}/tables/")
        with page.expect_download() as download:
            page.click("text=aligned.csv")
        assert download.value.suggested_filename == "aligned.csv"
        serving.shutdown()


def test_time_is_zoomed_in_all_panels_and_bins_can_be_switched(
    tmp_path: Path, browser: Browser
) -> None:
    run = steady(packets=1500, every_ns=4_000_000).write(tmp_path / "run")  # 30 bins of 200 ms
    analyze(run)
    report = run / "report.html"
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(ANSWER_WITHIN_MS)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector(DRAWN, state="attached")
    timeline = "document.getElementById('timeline')"
    points = f"{timeline}.data.map(trace => trace.x.length)"
    shown = page.evaluate(points)
    page.evaluate(f"Plotly.relayout({timeline}, {{'xaxis.range': [1, 2]}})")
    page.click(".bins button:last-of-type")
    page.wait_for_function(f"Math.max(...{points}) > {max(shown)}")
    axes = f"Object.keys({timeline}._fullLayout).filter(name => /^xaxis/.test(name)).length"
    assert page.evaluate(axes) == 1, "panels have time axes of their own"
    assert page.evaluate(f"{timeline}._fullLayout.xaxis.range") == [1, 2]
    narrow = page.evaluate(points)
    assert any(8 <= one / other <= 12 for one, other in zip(narrow, shown, strict=True) if other)


def test_the_same_figures_are_there_as_svg(report: Path) -> None:
    page = report.read_text()
    figures = json.loads(re.search(r'id="figures">(.*?)</script>', page)[1])
    files = {file.stem for file in (report.parent / "figures").glob("*.svg")}
    assert set(figures) == files
    for file in (report.parent / "figures").glob("*.svg"):
        assert "<svg" in file.read_text()[:600]


def test_every_number_has_a_unit_and_a_definition(report: Path) -> None:
    page = report.read_text()
    cards = re.findall(r'<div class="card">(.*?)</div></dd></div>', page, re.DOTALL)
    assert len(cards) == 5
    for card in cards:
        assert re.search(r'class="means">\S', card), card
    rows = re.findall(r"<tr><td>(.*?)</tr>", page, re.DOTALL)
    assert len(rows) > 10
    for row in rows:
        if "means" in row and 'class="unit"' in row:
            assert re.search(r'class="unit"[^>]*>\S', row), row
            assert re.search(r'class="means">\S', row), row
