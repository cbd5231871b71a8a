# SPDX-License-Identifier: Apache-2.0
"""The segments of one flow in one capture, with sequence numbers that no longer wrap."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from ddu.tables.bins import Int

SYN, ACK = 0x02, 0x10
"""TCP flags (RFC 9293, section 3.1)."""


@dataclass(frozen=True)
class Segments:
    """Captured packets of one direction of a TCP or UDP flow, in the order of capture.

    A packet may be a super-packet that the host's segmentation offload has yet to cut (GSO) or
    has already merged (GRO): `segment_count` says how many packets it is on a wire.
    """

    utc_ns: Int
    seq: Int
    """First payload byte, counted from the first byte of the stream (TCP), without wrapping."""
    payload_bytes: Int
    ip_bytes: Int
    """Bytes on a wire, IP headers included, once per segment of a super-packet."""
    segment_count: Int
    ack: Int
    """Next byte of the other direction that is expected; meaningless without the ACK flag."""
    flags: Int
    tsval: Int
    """RFC 7323 TSval and TSecr; -1 without the option."""
    tsecr: Int

    def __len__(self) -> int:
        return len(self.utc_ns)

    @property
    def end(self) -> Int:
        return self.seq + self.payload_bytes

    def where(self, mask: npt.NDArray[np.bool_]) -> Segments:
        return Segments(**{part.name: getattr(self, part.name)[mask] for part in fields(self)})

    @property
    def with_payload(self) -> Segments:
        return self.where(self.payload_bytes > 0)

    @property
    def with_ack(self) -> Segments:
        return self.where((self.flags & ACK) != 0)


def unwrap(numbers: npt.NDArray[np.generic], origin: int) -> Int:
    """32-bit sequence numbers as distances from `origin`, neighbours never 2³¹ or more apart."""
    wrapped = np.concatenate([[np.uint32(origin)], numbers.astype(np.uint32)])
    steps = np.diff(wrapped).astype(np.int32)
    return np.cumsum(steps, dtype=np.int64)


def highest_before(end: Int) -> Int:
    """For each packet, the highest sequence number that packets before it reached."""
    if not len(end):
        return end
    reached = np.maximum.accumulate(end)
    return np.concatenate([[np.int64(0)], np.maximum(reached[:-1], 0)])
