# SPDX-License-Identifier: Apache-2.0
"""The cluster of Dask's scheduler, workers and clients: addresses, certificates, connections.

Whoever may connect to one of them runs code as its user. So root talks TLS to other machines, and
everybody has to show a certificate of the cluster.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ddu.console.authority import authority
from ddu.console.problems import RefusedError, refusal

if TYPE_CHECKING:
    from distributed import Client

PORT = 8786
"""The port of Dask's schedulers."""
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:.]+\]|[^\s/\[\]:]+):(\d{1,5})")
_CONNECT_S = 10
_MAKE_THEM = "`ccu certificates DIR` makes a folder of certificates (docs/scaling.md)"


@dataclass(frozen=True)
class Certificates:
    """The folder of a cluster's certificates; each of its members has the same."""

    folder: Path

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def certificate(self) -> Path:
        return self.folder / "cert.pem"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    def context(self) -> ssl.SSLContext:
        """Return what speaks TLS with them, as Dask does. Raises OSError."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(self.authority)
        context.load_cert_chain(self.certificate, self.key)
        return context


@dataclass(frozen=True)
class Address:
    """An address of the cluster, and the certificates if it is for TLS."""

    host: str
    port: int
    certificates: Certificates | None
    key: str
    """The option that gives it."""

    def __str__(self) -> str:
        return f"{self.scheme}://{authority(self.host, self.port)}"

    @property
    def scheme(self) -> str:
        return "tls" if self.certificates else "tcp"

    def from_here(self) -> str:
        """Return the address of this machine that packets to that address have.

        Raises RefusedError.
        """
        family, _, _, _, peer = self._resolved()[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(peer)  # Sends nothing.
            except OSError as error:
                raise refusal(
                    f"{self} cannot be reached ({error.strerror})", "check it", key=self.key
                ) from None
            return str(probe.getsockname()[0])

    def refuse_plain_text_of_root(self) -> None:
        """Raise RefusedError if root would talk without TLS: every user of this machine reaches the
        loopback."""
        if os.geteuid() or self.certificates:
            return
        if self._on_this_machine():
            rule = f"{self} is without TLS: every user of this machine would be root"
        else:
            rule = (
                f"{self} is on the network and without TLS: whoever reaches it would be root here"
            )
        raise refusal(rule, f"give --tls DIR; {_MAKE_THEM}", key=self.key)

    def refuse_another_cluster(self) -> None:
        """Raise RefusedError if what answers there and these certificates do not accept each other.

        Where nobody answers nothing is raised: a worker waits for its scheduler.
        """
        if self.certificates is None:
            return
        try:
            plain = socket.create_connection((self.host, self.port), _CONNECT_S)
        except OSError:
            return
        try:
            with plain, self.certificates.context().wrap_socket(plain) as greeted:
                heard = greeted.recv(1)  # or the refusal of our certificate, in TLS 1.3
        except OSError as error:
            raise self._stranger(getattr(error, "verify_message", "") or str(error)) from None
        if not heard:
            raise self._stranger("it closed the connection")

    def _stranger(self, reason: str) -> RefusedError:
        return refusal(
            f"{self} is not a member of the cluster of {self.certificates} ({reason})",
            "give the folder of certificates that its scheduler has (docs/scaling.md)",
            key="--tls",
        )

    def _on_this_machine(self) -> bool:
        return all(ipaddress.ip_address(one[4][0]).is_loopback for one in self._resolved())

    def _resolved(self) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        try:
            resolved = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_DGRAM)
        except OSError as error:
            raise refusal(
                f"{self.host} is not known ({error.strerror})", "check the name", key=self.key
            ) from None
        return resolved  # type: ignore[return-value]


def address(text: str, tls: Path | None, key: str = "--scheduler") -> Address:
    """Parse the address of a scheduler, and check the certificates. Raises RefusedError."""
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match[3]) < 2**16:
        fix = "write for example tls://10.0.0.1:8786"
        raise refusal(f"{text!r} is not an address", fix, key=key)
    scheme, host, port = match.groups()
    if scheme == "tls" and tls is None:
        raise refusal(f"{text} needs certificates", f"give --tls DIR; {_MAKE_THEM}", key=key)
    if scheme == "tcp" and tls is not None:
        raise refusal(f"{text} is without TLS", "write tls://…, or leave --tls out", key=key)
    parsed = Address(host.strip("[]"), int(port), certificates(tls) if tls else None, key)
    parsed.refuse_plain_text_of_root()
    return parsed


def certificates(folder: Path) -> Certificates:
    """Return the certificates in a folder, which can be used. Raises RefusedError."""
    ours = Certificates(folder.absolute())
    for file in (ours.authority, ours.certificate, ours.key):
        if not file.is_file():
            raise refusal("is missing", _MAKE_THEM, file=file)
    if ours.key.stat().st_mode & 0o077:
        raise refusal("other users may read this key", f"`chmod 600 {ours.key}`", file=ours.key)
    try:
        context = ours.context()
    except OSError as error:
        reason = error.strerror or str(error)
        raise refusal(f"cannot be used ({reason})", _MAKE_THEM, file=folder) from None
    for one in context.get_ca_certs():
        until = str(one["notAfter"])
        if ssl.cert_time_to_seconds(until) < time.time():
            raise refusal(f"expired at {until}", _MAKE_THEM, file=ours.authority)
    return ours


def connect(text: str, tls: Path | None = None) -> Client:
    """Return a client of the scheduler at an address. Raises RefusedError."""
    there = address(text, tls)
    try:
        # Dask would retry until its timeout, even where nothing listens.
        socket.create_connection((there.host, there.port), _CONNECT_S).close()
        there.refuse_another_cluster()
        return _client(there)
    except (OSError, ValueError) as error:
        raise refusal(
            f"{there}: no scheduler answers ({type(error).__name__})",
            (
                "start one with `ccu scheduler`, and a worker on each machine with `ccu worker` "
                "(docs/scaling.md)"
            ),
            key="--scheduler",
        ) from None


def _client(there: Address) -> Client:
    from distributed import Client
    from distributed.security import Security

    if there.certificates is None:
        return Client(str(there), timeout=_CONNECT_S)
    ours = there.certificates
    security = Security(
        require_encryption=True,
        tls_ca_file=str(ours.authority),
        tls_client_cert=str(ours.certificate),
        tls_client_key=str(ours.key),
    )
    return Client(str(there), timeout=_CONNECT_S, security=security)
