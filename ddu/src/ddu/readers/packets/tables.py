# SPDX-License-Identifier: Apache-2.0
"""Packets of a capture as Arrow columns.

The files are pcap (µs, ns, either byte order) or pcapng, plain, gzip or Zstandard. Frames of
null/loop, Ethernet, Linux cooked v1/v2 and raw IP, with VLAN tags and IPv6 extension headers, are
read down to TCP and UDP. Packets in GTP-U are shown, not their tunnel's.
What a packet does not have, or the capture cut off, is null.

- `utc_ns`: UTC, ns since 1970 (int64)
- `caplen`, `wirelen`: bytes of the frame that were captured; that it had
- `truncated`: its headers are cut off or malformed; what they would have said is null
- `flow`: row of `Capture.flows`, one direction of a 5-tuple
- `src`, `dst`: addresses as text (dictionary)
- `ip_version`, `proto`: 4 or 6; IANA's protocol number, behind IPv6's extension headers
- `ip_bytes`: length of the IP packet, headers included. A host's own segmentation offload hands
  over packets of up to 64 KB, and more (BIG TCP), which a wire never sees in one piece
- `ttl`, `dscp`, `ecn`: time to live or hop limit; RFC 2474; RFC 3168
- `fragment`: part of a larger packet; a part that is not the first has no ports
- `sport`, `dport`: ports of TCP and UDP
- `tcp_seq`, `tcp_ack`: as in the header (uint32; they wrap)
- `tcp_flags`: 12 bits, FIN 0x001, SYN 0x002 … AE 0x100 (RFC 9293 section 3.1, RFC 9768)
- `tcp_window`: as in the header, not scaled
- `tcp_payload_bytes`, `udp_payload_bytes`: bytes behind the header, captured or not
- `ts_val`, `ts_ecr`: timestamps option (RFC 7323)
- `sack`: SACK option (RFC 2018), left and right edges in turn, up to four pairs
- `mss`, `wscale`: options of a SYN: maximum segment size in bytes, window shift
- `udp_digest`: of the datagram's length and first 64 bytes (FNV-1a, 64 bits), by which it is known
  again in another capture
- `quic_is_long`, `quic_header_bytes`: form of a QUIC datagram's first header (1: long, 0: short),
  and its bytes before the packet number, which is encrypted (RFC 9000 section 17, RFC 9369). Short
  headers are known from the long ones of the other direction: null if these were not captured
- `vlan`: identifier of the outermost VLAN tag
- `gtp_teid`: tunnel endpoint that the packet was sent to in GTP-U (3GPP TS 29.281)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ddu import _packets

TCP, UDP = 6, 17
"""Values of ``proto``."""

SCHEMA = pa.record_batch(_packets.no_packets()).schema
"""Every column, as the module's text explains them."""

FLOW_SCHEMA = pa.record_batch(_packets.no_flows()).schema
"""Every column of the flows, as Capture.flows explains them."""


@dataclass(frozen=True)
class Capture:
    """The content of a capture file."""

    packets: pa.Table
    """One row per IP packet, in the order of the file."""
    flows: pa.Table
    """One row per flow (one direction of a 5-tuple), in the order of appearance: `flow` (its row),
    `src`, `dst`, `sport`, `dport`, `proto`, `reverse_flow` (row of the other direction, null if
    unseen), `first_utc_ns`, `last_utc_ns`, `packets_count`, `ip_bytes`."""
    skipped_count: int
    """Frames that hold no IP packet, or not all of its fixed header."""
    truncated_at: int | None
    """Byte offset (in the decompressed file) of a record that the file's end cuts off, or None."""


def chosen_schema(columns: Sequence[str] | None) -> pa.Schema:
    """The schema of these columns (None: all), in the order of SCHEMA.

    Raises ValueError for a column that there is not.
    """
    if columns is None:
        return SCHEMA
    unknown = sorted(set(columns) - set(SCHEMA.names))
    if unknown:
        raise ValueError(f"no such packet column: {', '.join(unknown)} (there are {SCHEMA.names})")
    return pa.schema([field for field in SCHEMA if field.name in columns])
