# SPDX-License-Identifier: Apache-2.0
"""Host and port as a URL has them."""

from __future__ import annotations


def authority(host: str, port: int) -> str:
    """Return `host:port`, an IPv6 address in brackets (RFC 3986 section 3.2.2)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
