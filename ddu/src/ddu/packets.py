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

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from ddu import _packets, _packets_dpkt
from ddu.errors import UnreadableInput

Reader = Literal["native", "dpkt"]

TCP, UDP = 6, 17
"""Values of ``proto``."""

SCHEMA = pa.record_batch(_packets.no_packets()).schema
"""Every column, as the module's text explains them."""

FLOW_SCHEMA = pa.record_batch(_packets.no_flows()).schema
"""Every column of the flows, as Capture.flows explains them."""

BATCH_PACKETS = 65_536
"""Some 5 MB of columns."""


@dataclass(frozen=True)
class Capture:
    """What a capture file holds."""

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


def read_packets(
    path: Path | str,
    *,
    reader: Reader = "native",
    columns: Sequence[str] | None = None,
    batch_packets: int = BATCH_PACKETS,
    expect_tcp: bool = False,
) -> Capture:
    """Reads a whole capture; `columns` (None: all) keeps memory to what is needed.

    `reader="dpkt"` is the slow, independent reading of the same file, for comparison.
    Raises UnreadableInput, naming file and byte, when it is missing, empty, no capture, damaged,
    of an unknown link type, or, with `expect_tcp`, without TCP.
    A file that is merely cut off gives what is whole.
    """
    path = Path(path)
    if reader == "dpkt":
        capture = Capture(*_packets_dpkt.read(path, chosen_schema(columns), FLOW_SCHEMA))
    else:
        stream = PacketStream(path, columns=columns, batch_packets=batch_packets)
        table = pa.Table.from_batches(stream, stream.schema)
        packets = table.unify_dictionaries()
        capture = Capture(packets, stream.flows, stream.skipped_count, stream.truncated_at)
    if expect_tcp and not pc.any(pc.equal(capture.flows["proto"], TCP)).as_py():
        raise UnreadableInput(
            path,
            f"a capture without TCP ({capture.packets.num_rows} IP packets of other protocols, "
            f"{capture.skipped_count} frames that are not IP)",
            "was the right interface captured, and its traffic not filtered out?",
        )
    return capture


class PacketStream(Iterator[pa.RecordBatch]):
    """A capture batch by batch, for files larger than memory and files that grow.

    At the end of the file the iteration stops; iterating again gives what has been written since.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        columns: Sequence[str] | None = None,
        batch_packets: int = BATCH_PACKETS,
    ) -> None:
        self.path = Path(path)
        self.schema = chosen_schema(columns)
        with faults_of(self.path):
            self._reader = _packets.PacketReader(self.path, self.schema.names, batch_packets)

    def __next__(self) -> pa.RecordBatch:
        with faults_of(self.path):
            batch = self._reader.next_batch()
        if batch is None:
            raise StopIteration
        return pa.record_batch(batch)

    def follow(
        self, ended: Callable[[], bool], look_every_s: float = 0.1
    ) -> Iterator[pa.RecordBatch]:
        """The batches of a file that is being written, as they come, until `ended` tells that it
        is whole. What is only partly there is waited for. Plain files; a compressed one is read
        as far as it goes.
        """
        while True:
            is_last = ended()  # asked before the look: what was written until then is seen by it
            yield from self
            if is_last:
                return
            time.sleep(look_every_s)

    @property
    def flows(self) -> pa.Table:
        """The flows of the packets so far; see Capture.flows."""
        return pa.Table.from_batches([pa.record_batch(self._reader.flows())])

    @property
    def skipped_count(self) -> int:
        """See Capture.skipped_count."""
        return self._reader.skipped_count

    @property
    def truncated_at(self) -> int | None:
        """See Capture.truncated_at; meaningful once the iteration has stopped."""
        return self._reader.truncated_at


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


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Turns what a reader says is wrong into UnreadableInput, with the file's name in front."""
    try:
        yield
    except OSError as error:
        raise UnreadableInput(path, error.strerror or str(error)) from None
    except _packets.CaptureError as error:
        raise UnreadableInput(path, str(error)) from None
