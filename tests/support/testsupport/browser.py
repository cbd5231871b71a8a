# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, over its DevTools protocol: what it logs, measures and shows."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_ANSWER_WITHIN_S = 300
_PROGRAMS = ("chromium", "google-chrome", "google-chrome-stable")
"""Ubuntu's chromium is a snap, which sees no file outside of its user's home."""


@dataclass(frozen=True)
class Seen:
    """The state of a page when it said that it was complete."""

    complaints: list[str]
    """Errors and warnings of the console, exceptions, requests that failed."""
    answers: list[Any]
    """The values of the expressions that were asked for."""
    screenshot: bytes
    """PNG."""


def look_at(page: Path, width: int, until: str, expressions: list[str], height: int = 900) -> Seen:
    """Opens the page at a width of the screen, and waits until an expression is true there."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium here; setup/system-packages test installs it on Debian")
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            script = _Session(Path(profile)).look(page, width, height, until, expressions)
            return asyncio.run(asyncio.wait_for(script, _ANSWER_WITHIN_S))
        finally:
            browser.terminate()
            browser.wait(600)


class _Session:
    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._complaints: list[str] = []
        self._number = 0

    async def look(
        self, page: Path, width: int, height: int, until: str, expressions: list[str]
    ) -> Seen:
        from tornado.websocket import websocket_connect

        self._socket = await websocket_connect(await self._page_url(), max_message_size=1 << 28)
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._ask(f"{domain}.enable")
        await self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        await self._ask("Page.navigate", url=page.resolve().as_uri())
        while not await self._value(until):
            await asyncio.sleep(0.2)
        answers = [await self._value(each) for each in expressions]
        shot = await self._ask("Page.captureScreenshot", captureBeyondViewport=True)
        self._socket.close()
        return Seen(self._complaints, answers, base64.b64decode(shot["data"]))

    async def _page_url(self) -> str:
        from tornado.httpclient import AsyncHTTPClient

        file = self._profile / "DevToolsActivePort"
        while not (file.exists() and len(file.read_text().splitlines()) == 2):
            await asyncio.sleep(0.1)
        port = file.read_text().splitlines()[0]
        while True:
            found = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/json")
            pages = [item for item in json.loads(found.body) if item["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
            await asyncio.sleep(0.1)

    async def _value(self, expression: str) -> Any:
        found = await self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    async def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        await self._socket.write_message(
            json.dumps({"id": self._number, "method": method, "params": parameters})
        )
        while True:
            message = await self._socket.read_message()
            assert message is not None, "the browser ended"
            content: dict[str, Any] = json.loads(message)
            if content.get("id") == self._number:
                assert "error" not in content, content
                result: dict[str, Any] = content["result"]
                return result
            self._note(content)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self._complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self._complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self._complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("data:", "file:", "blob:")):
                self._complaints.append(f"asks the network for {url}")


def keep(screenshot: bytes, name: str) -> None:
    """Save a screenshot in the directory that DDU_SCREENSHOTS names, if any."""
    if directory := os.environ.get("DDU_SCREENSHOTS"):
        (Path(directory) / name).write_bytes(screenshot)
