# SPDX-License-Identifier: Apache-2.0
"""Run directories over HTTP, read-only: where the dashboards' links to reports and CSV lead."""

from __future__ import annotations

import socket
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from ddu.console.problems import refusal

_NOWHERE = "/dev/null/nowhere"
"""A path that cannot exist."""
_PATIENCE_S = 30.0
"""Timeout of a client that neither sends nor receives."""
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
"""The Content-Security-Policy. Reports are self-contained and fetch nothing. A page cannot read
another one, which somebody else may have made, and other sites cannot frame one (clickjacking)."""


def _is_ours(host: str) -> bool:
    """Return whether a request's Host is an address, or a name of this machine."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:  # Brackets without an address.
        return False
    try:
        ip_address(name)
    except ValueError:
        own = {"localhost", socket.gethostname(), socket.getfqdn()}
        return name in {one.lower() for one in own} or name.endswith(".localhost")
    return True


class _Handler(SimpleHTTPRequestHandler):
    """/ lists the runs, /runs/… is their directory; nothing else is served, and no link leads out
    of it."""

    server_version = "ddu"

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(_PATIENCE_S)

    def parse_request(self) -> bool:
        """Refuse a request by a name that is not this machine's: by DNS rebinding, a page of
        another site could read the runs."""
        if not super().parse_request():
            return False
        if _is_ours(self.headers.get("Host", "")):
            return True
        self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "use the address, or this machine's name")
        return False

    def translate_path(self, path: str) -> str:
        root = Path(self.directory).resolve()
        parts = [part for part in unquote(urlsplit(path).path).split("/") if part not in ("", ".")]
        if not parts or parts[0] != "runs" or ".." in parts or "\0" in path:
            return _NOWHERE
        try:
            file = root.joinpath(*parts[1:]).resolve()
        except (OSError, ValueError, RuntimeError):
            return _NOWHERE
        served = file.is_dir() or file.is_file()  # A named pipe has no end.
        return str(file) if served and (file == root or root in file.parents) else _NOWHERE

    def send_head(self) -> BytesIO | BinaryIO | None:
        """List a folder also where it has an index.html, which may be a link that leads out."""
        if urlsplit(self.path).path == "/":
            return self._send_index()
        path = self.translate_path(self.path)
        if Path(path).is_dir() and urlsplit(self.path).path.endswith("/"):
            return self.list_directory(path)
        return super().send_head()

    def _send_index(self) -> BytesIO:
        from ddu.serve.index import index_page

        page = index_page(Path(self.directory)).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        return BytesIO(page)

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class _OfIpv6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def server(runs: Path, bind: str, port: int) -> ThreadingHTTPServer:
    """Listen on a port. Raises RefusedError if the port is taken or `runs` is not a directory."""
    if not runs.is_dir():
        raise refusal("no such directory", "name another with --runs", file=runs)
    try:
        kind = _OfIpv6 if ":" in bind else ThreadingHTTPServer
        return kind((bind, port), partial(_Handler, directory=str(runs)))
    except OSError as error:
        raise refusal(
            error.strerror or str(error), "choose another with --port", key=f"{bind}:{port}"
        ) from None
