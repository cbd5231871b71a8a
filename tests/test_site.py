# SPDX-License-Identifier: Apache-2.0
"""The site of docs/, built as `make site` builds it, in a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from testsupport.browser import TOO_WIDE, chromium, complaints_of, served

ROOT = Path(__file__).parents[1]
WIDE = ["index", "experiment", "metrics", "python", "reproductions/reminis", "pictures/index"]
"""Pages with the widest tables, figures and lines of code."""
SEARCH = "**/assets/javascripts/workers/search.*.js"
BROKEN = "[...document.images].filter(image => !image.naturalWidth).map(image => image.src)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it. A link or an anchor that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [ROOT / "packaging" / "site" / "build", folder], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def test_each_page_of_docs_is_there(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    named = {page.with_stem("index") if page.stem == "README" else page for page in pages}
    assert [page for page in named if not (site / page.with_suffix(".html")).exists()] == []


def test_navigation_has_the_sections_of_the_start_page(site: Path) -> None:
    start = (site / "index.html").read_text()
    for section in ("Start here", "Run", "Data", "Model", "Extend", "Results", "Python"):
        assert f"{section}\n" in start or f">{section}<" in start


def test_the_python_reference_is_made_of_docstrings(site: Path) -> None:
    reference = (site / "python.html").read_text()
    assert 'id="over5g.run"' in reference
    assert 'id="ddu.api.open_run"' in reference


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Serve it on this machine: browsers start the search only from a server."""
    with served(site) as address:
        yield address


@pytest.mark.parametrize("width", [1300, 420])
def test_pages_are_whole_and_ask_no_other_server(
    address: str, browser: Browser, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, is_mobile=width < 600)
    complaints = complaints_of(page, own=address)
    # Most of what a page costs: the index of all pages, which the test below needs.
    page.route(SEARCH, lambda route: route.fulfill(content_type="text/javascript", body=""))
    for name in WIDE:
        page.goto(f"{address}/{name}.html", wait_until="load")
        assert page.evaluate(TOO_WIDE) <= 0, f"{name} scrolls sideways"
        assert page.evaluate(BROKEN) == [], name
    assert complaints == []


def test_search_finds_a_term_in_its_page(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    complaints = complaints_of(page, own=address)
    # What is typed before the page's script listens would be lost.
    page.goto(f"{address}/index.html?q=reordering")
    page.wait_for_selector("a[href*='nr-link-model.html?h=reordering']", state="attached")
    assert complaints == []
