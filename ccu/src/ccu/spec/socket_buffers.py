# SPDX-License-Identifier: Apache-2.0
"""Limits of a host's socket buffers, as sysctls of its network namespace (tcp(7))."""

from __future__ import annotations

from typing import Literal

STOCK = "stock"
"""The limits of Linux itself on machines with 2 GB and more: 4 MB to send, 6 MB to receive."""
DEFAULT_BYTES = 64 * 2**20
"""Linux's 4 MB would cap a flow at 1.6 Gbit/s over 20 ms: the link is to limit it, not the host."""

LEAST_BYTES, MOST_BYTES = 2**16, 2**30
_STOCK_BYTES = (4 * 2**20, 6 * 2**20)


def socket_buffer_sysctls(limit: int | Literal["stock"]) -> dict[str, str]:
    """Return the sysctls that let TCP tune its buffers up to `limit` bytes each."""
    to_send, to_receive = _STOCK_BYTES if limit == STOCK else (limit, limit)
    return {
        "net.ipv4.tcp_wmem": f"4096 16384 {to_send}",
        "net.ipv4.tcp_rmem": f"4096 131072 {to_receive}",
    }
