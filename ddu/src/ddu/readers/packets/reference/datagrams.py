# SPDX-License-Identifier: Apache-2.0
"""The content of UDP datagrams for the dpkt reader, which dpkt itself does not decode."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Ends = tuple[Any, ...]

_DIGESTED_BYTES = 64
_INITIAL = {1: 0, 0x6B3343CF: 1}
"""QUIC version → the type of its Initial packets (RFC 9000 17.2.2, RFC 9369 3.2)."""


def fnv1a(payload_bytes: int, captured: bytes) -> int:
    """A digest of the payload's length and its first bytes."""
    value = 0xCBF29CE484222325
    for byte in payload_bytes.to_bytes(4, "big") + captured[: min(_DIGESTED_BYTES, payload_bytes)]:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def quic_columns(id_bytes: dict[Ends, int], row: Row) -> Row:
    """Return the columns of a QUIC datagram. `id_bytes` keeps how long the connection ID of each
    sender is, which only its long headers say."""
    datagram = row.pop("datagram", None)
    if datagram is None:
        return {}
    ends = tuple(row[name] for name in ("src", "sport", "dst", "dport"))
    try:
        header = _long_header(datagram)
    except IndexError:  # cut
        header = None
    if header is not None:
        id_bytes[ends] = header[1]
        return {"quic_is_long": 1, "quic_header_bytes": header[0]}
    length = id_bytes.get(ends[2:] + ends[:2])
    if length is None or not datagram or datagram[0] >> 6 != 1:
        return {}
    return {"quic_is_long": 0, "quic_header_bytes": 1 + length}


def _long_header(datagram: bytes) -> tuple[int, int] | None:
    """Return the bytes before the packet number, and the length of the source's connection ID, of a
    packet with a long header (RFC 9000 17.2)."""
    if not datagram[0] & 0x80:
        return None
    version = int.from_bytes(datagram[1:5], "big")
    destination_bytes = datagram[5]
    source_bytes = datagram[6 + destination_bytes]
    at = 7 + destination_bytes + source_bytes
    if max(destination_bytes, source_bytes) > 20 or at > len(datagram):
        return None
    if version == 0:
        return at, source_bytes
    if version not in _INITIAL or not datagram[0] & 0x40:
        return None
    packet_type = ((datagram[0] >> 4) - _INITIAL[version]) % 4
    if packet_type == 0:  # Initial, with a token
        width = 1 << (datagram[at] >> 6)
        if at + width > len(datagram):
            return None
        token = int.from_bytes(datagram[at : at + width], "big") % 2 ** (8 * width - 2)
        at += width + token
    if packet_type != 3:  # all but Retry have a length
        at += 1 << (datagram[at] >> 6)
    return (at, source_bytes) if at < 2**16 else None
