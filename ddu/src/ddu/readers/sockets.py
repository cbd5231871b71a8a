# SPDX-License-Identifier: Apache-2.0
"""Samples of TCP sockets as Arrow columns, out of the netlink captures of the socket sampler.

One row per socket and sample, in the order of the file:

- `utc_ns`: when the kernel's answer was received; UTC, ns since 1970
- `src`, `dst`, `sport`, `dport`: the 5-tuple as its packets show it (the sampled host is `src`;
  IPv4-mapped IPv6 addresses are written as IPv4)
- `cong`: name of the congestion control in use
- `state`, `timer`, `rqueue_bytes`, `cookie` …: the answer's fixed part (`struct inet_diag_msg`)
- `rtt_us`, `snd_cwnd_packets`, `pacing_rate_bytes_per_s` …: `struct tcp_info`, by the kernel's
  names with a unit. Counters are cumulative since the connection began
- `skmem_…`: memory of the socket; `tos`, `tclass`, `mark`
- `vegas_…`, `bbr_…`, `dctcp_…`: the congestion control's own information, by the names of
  `union tcp_cc_info`, of which other congestion controls may make a use of their own

Null is what the sampled kernel does not have or does not know: no slow-start threshold yet, no RTT
minimum yet, no limit of the pacing rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ddu import _packets
from ddu.readers.packets.native.faults import faults_of


@dataclass(frozen=True)
class SocketSamples:
    """The samples in a file of the socket sampler."""

    table: pa.Table
    """One row per socket and sample; see the module's text."""
    truncated_at: int | None
    """Byte offset of a sample that the file's end cuts off, or None."""


def read_sockets(path: Path | str) -> SocketSamples:
    """Read all samples.

    Raises UnreadableInput, naming file and byte, when the file is missing, empty, damaged, or not a
    capture of netlink. A file that is merely cut off gives what is whole.
    """
    path = Path(path)
    with faults_of(path):
        batch, truncated_at = _packets.read_sockets(path)
    return SocketSamples(pa.Table.from_batches([pa.record_batch(batch)]), truncated_at)
