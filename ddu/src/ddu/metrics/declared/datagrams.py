# SPDX-License-Identifier: Apache-2.0
"""UDP: delay, loss and reordering of datagrams."""

from __future__ import annotations

from ddu.metrics.metric import BinMetric, Need

_BOTH = (Need.BOTH,)

METRICS = (
    BinMetric(
        "udp_owd_ms", "mean one-way delay of the datagrams received in the bin",
        "One-way delay of datagrams",
        details="for each datagram in R: its time minus that of the same datagram in S",
        needs=_BOTH, protocol="udp", compute=lambda at: at.mean(at.flow.datagrams.delay),
    ),
    BinMetric(
        "udp_lost_count", "datagrams sent and not received, by time of sending", "Lost datagrams",
        "datagrams", digits=0, details="those sent after the last that arrived count if "
        "the captures went on for longer than any datagram took",
        needs=_BOTH, protocol="udp", compute=lambda at: at.sum(at.flow.datagrams.lost),
    ),
    BinMetric(
        "udp_reordered_count", "datagrams received after one that was sent later",
        "Reordered datagrams", "datagrams", digits=0, needs=_BOTH, protocol="udp",
        compute=lambda at: at.bins.sums(at.flow.datagrams.delay.utc_ns, at.flow.datagrams.late),
    ),
)  # fmt: skip
