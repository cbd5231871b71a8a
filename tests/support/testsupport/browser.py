# SPDX-License-Identifier: Apache-2.0
"""Chromium for tests of pages, and what a page must not do in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

PROGRAMS = ("chromium", "google-chrome", "google-chrome-stable")
"""Ubuntu's chromium is a snap, which sees no file outside of its user's home."""
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    " --disable-sync --no-first-run"
)
ANSWER_WITHIN_MS = 300_000

TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
"""Pixels that the page is wider than the window."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; skip the test, with the reason, where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium here; setup/system-packages test installs it on Debian")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=program, args=ARGUMENTS.split(), timeout=ANSWER_WITHIN_MS
        ) as browser,
    ):
        yield browser


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, for pages that load files; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Print nothing."""


def complaints_of(page: Page, own: str = "file:") -> list[str]:
    """Return a list that grows by each warning, error and request beyond its `own` address."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def see(request: Request) -> None:
        if not request.url.startswith(("data:", "blob:", own)):
            complaints.append(f"asks the network for {request.url}")

    page.set_default_timeout(ANSWER_WITHIN_MS)
    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", see)
    return complaints
