# SPDX-License-Identifier: Apache-2.0
"""Run directories over HTTP, read-only: where the dashboards' links to reports and CSV lead."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ddu.console.problems import refusal

_NOWHERE = "/dev/null/nowhere"
"""A path that cannot exist."""


class _Handler(SimpleHTTPRequestHandler):
    """/runs/… is the directory of the runs; nothing else is served, and no link leads out of it."""

    server_version = "ddu"

    def translate_path(self, path: str) -> str:
        root = Path(self.directory).resolve()
        parts = [part for part in unquote(urlsplit(path).path).split("/") if part not in ("", ".")]
        if not parts or parts[0] != "runs" or ".." in parts or "\0" in path:
            return _NOWHERE
        try:
            file = root.joinpath(*parts[1:]).resolve()
        except (OSError, ValueError, RuntimeError):
            return _NOWHERE
        return str(file) if file == root or root in file.parents else _NOWHERE

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def server(runs: Path, bind: str, port: int) -> ThreadingHTTPServer:
    """Listen on a port. Raises RefusedError if the port is taken or `runs` is not a directory."""
    if not runs.is_dir():
        raise refusal("no such directory", "name another with --runs", file=runs)
    try:
        return ThreadingHTTPServer((bind, port), partial(_Handler, directory=str(runs)))
    except OSError as error:
        raise refusal(
            error.strerror or str(error), "choose another with --port", key=f"{bind}:{port}"
        ) from None
