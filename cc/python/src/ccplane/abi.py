# SPDX-License-Identifier: Apache-2.0
"""The layouts of cc/plane/plane_abi.h."""

from __future__ import annotations

import struct
from typing import NamedTuple

FLOWS = 256
RING_BYTES = 1 << 20
MOST_PACKETS = 1 << 20

ACKS, START, END, STATE, UNDO = range(5)
"""Events of a report."""
EVENTS = ("acks", "start", "end", "state", "undo")
RECOVERY, LOSS = 3, 4
"""Values of `Report.ca_state` at which a policy's `state` is called."""
APP_LIMITED, CWND_LIMITED, FALLBACK, RETRANS = 1, 2, 4, 8
"""Bits of `Report.flags`."""

REPORT = struct.Struct("=QIHBB3I3I2I3I3IQQ4I2IQQ")
COMMAND = struct.Struct("=QQQIIIHH24x")
COUNTERS = struct.Struct("=6Q")
COUNTER_NAMES = ("reports", "reports_lost", "commands", "fallbacks", "flows", "flows_refused")
COMMANDS_BYTES = FLOWS * COMMAND.size


class Report(NamedTuple):
    """The content of the ACKs since the last report, and the state of TCP at the newest one."""

    time_ns: int
    """CLOCK_MONOTONIC."""
    flow_index: int
    generation: int
    event: int
    ca_state: int
    """0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (after an RTO)."""
    acks: int
    """ACKs since the last report."""
    acked: int
    """Packets that they acknowledged."""
    losses: int
    """Packets newly marked as lost since the last report, also by a timer between ACKs."""
    rtt_us: int
    """Newest sample; 0: none."""
    rtt_min_us: int
    """Least sample since the last report; 0: none."""
    rtt_avg_us: int
    """Mean since the last report; 0: none."""
    srtt_us: int
    """Smoothed RTT (RFC 6298)."""
    min_rtt_us: int
    """Least RTT of the last five minutes (net.ipv4.tcp_min_rtt_wlen)."""
    delivered: int
    """Packets delivered, total."""
    rate_delivered: int
    """Packets of the newest delivery rate sample."""
    rate_interval_us: int
    """Its time; 0: there is no sample."""
    inflight: int
    """Packets in flight."""
    cwnd: int
    """Window in force, packets."""
    mss: int
    """Bytes of payload in a packet."""
    pacing_rate: int
    """Pacing rate in force, bytes/s."""
    bytes_acked: int
    """Total."""
    lost: int
    """Packets marked as lost, total."""
    retransmitted: int
    """Packets, total."""
    delivered_ce: int
    """Packets delivered with a congestion mark, total (ECN)."""
    flags: int
    prior_delivered: int
    """`delivered` when the newest acknowledged packet departed: a round trip ago."""
    tx_inflight: int
    """Packets in flight when it departed; 0: not known."""
    applied: int
    applied_after_ns: int

    @property
    def rate_bps(self) -> float:
        """Newest sample of the delivery rate, bit/s of payload; 0: none."""
        if not self.rate_interval_us:
            return 0.0
        return self.rate_delivered * self.mss * 8e6 / self.rate_interval_us

    @property
    def app_limited(self) -> bool:
        """Whether the rate sample is low because the sender had no data."""
        return bool(self.flags & APP_LIMITED)

    @property
    def cwnd_limited(self) -> bool:
        """Whether the window limits the flow."""
        return bool(self.flags & CWND_LIMITED)

    @property
    def fallback(self) -> bool:
        """Whether the policy was silent and Reno controlled the flow."""
        return bool(self.flags & FALLBACK)
