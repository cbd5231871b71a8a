# SPDX-License-Identifier: Apache-2.0
"""The transport table: what the captures say, per bin and flow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.align.bins import Bins
from ddu.metrics.fairness import jain
from ddu.metrics.inflight import inflight_bytes
from ddu.metrics.loss import Events
from ddu.metrics.observe import ObservedFlow
from ddu.schema.arrays import Float

_AT_SENDER = {
    "tcp_sending_rate_bps", "tcp_rtt_ms", "tcp_rtt_p95_ms", "tcp_rtt_count", "tcp_rtt_seq_ms",
    "tcp_retransmissions_count", "tcp_lost_before_link_count", "tcp_fast_retransmissions_count",
    "tcp_timeout_retransmissions_count", "tcp_ack_blocks_per_s", "tcp_packets_per_ack_block",
    "tcp_inflight_bytes",
}  # fmt: skip
"""Columns of the sender's capture."""
_ARRIVALS = {"tcp_throughput_bps", "tcp_goodput_bps"}
"""Of the receiver's, or of the ACKs that the sender's has."""
_AT_BOTH = {
    "tcp_owd_ms", "tcp_self_inflicted_delay_ms", "tcp_spurious_retransmissions_count",
    "tcp_lost_in_link_count", "tcp_reordered_count", "udp_owd_ms", "udp_lost_count",
    "udp_reordered_count",
}  # fmt: skip


_UDP_ONLY = ("udp_owd_ms", "udp_lost_count", "udp_reordered_count")
_TCP_ONLY = (
    "tcp_rtt_ms", "tcp_rtt_p95_ms", "tcp_rtt_count", "tcp_rtt_seq_ms", "tcp_owd_ms",
    "tcp_self_inflicted_delay_ms", "tcp_retransmissions_count", "tcp_lost_before_link_count",
    "tcp_fast_retransmissions_count", "tcp_timeout_retransmissions_count",
    "tcp_spurious_retransmissions_count", "tcp_lost_in_link_count", "tcp_reordered_count",
    "tcp_ack_blocks_per_s", "tcp_packets_per_ack_block", "tcp_inflight_bytes",
)  # fmt: skip
"""In the order of the table."""


def grid(flows: Sequence[ObservedFlow], width_ns: int) -> Bins:
    """From the run's first payload packet to its last, in either capture."""
    first = min(flow.first_utc_ns for flow in flows)
    return Bins.covering(first, max(flow.last_utc_ns for flow in flows), width_ns)


def transport_table(flows: Sequence[ObservedFlow], bins: Bins) -> pd.DataFrame:
    """One row per bin and flow, in order of time within each flow.

    Columns are joined one by one: a table of each flow's own would cost more than its packets.
    """
    of_flows = [_of_flow(flow, bins) for flow in flows]
    starts = bins.edges_utc_ns[:-1]
    columns: dict[str, object] = {
        "utc_ns": np.tile(starts, len(flows)),
        "t_s": np.tile((starts - bins.start_utc_ns) / 1e9, len(flows)),
        "flow": _repeated([flow.flow.id for flow in flows], bins),
        "cc": _repeated([flow.flow.cc_read_back or flow.flow.cc for flow in flows], bins),
        "direction": _repeated([flow.flow.direction for flow in flows], bins),
    }
    active = np.stack([_active(flow, bins) for flow in flows])
    for name in of_flows[0]:
        columns[name] = np.concatenate([own[name] for own in of_flows])
    for name, of in (
        ("jain_throughput", "tcp_throughput_bps"),
        ("jain_sending_rate", "tcp_sending_rate_bps"),
    ):
        rates = np.stack([own[of] for own in of_flows])
        columns[name] = np.tile(jain(np.where(active, rates, np.nan)), len(flows))
    return pd.DataFrame(columns)


def _repeated(values: list[str], bins: Bins) -> npt.NDArray[np.object_]:
    return np.repeat(np.array(values, dtype=object), bins.count)


def _of_flow(flow: ObservedFlow, bins: Bins) -> dict[str, Float]:
    sent, received = flow.sent, flow.received
    null = np.full(bins.count, np.nan)
    columns = {
        "tcp_sending_rate_bps": bins.rates_bps(sent.utc_ns, sent.ip_bytes),
        "tcp_throughput_bps": bins.rates_bps(*flow.arrivals),
        "tcp_throughput_ip_bps": bins.rates_bps(received.utc_ns, received.ip_bytes),
        "tcp_goodput_bps": bins.rates_bps(*flow.delivered),
    }
    columns |= _tcp_only(flow, bins) if flow.is_tcp else dict.fromkeys(_TCP_ONLY, null)
    columns |= dict.fromkeys(_UDP_ONLY, null) if flow.is_tcp else _udp_only(flow, bins)
    return columns | dict.fromkeys(_unseen(flow), null)


def _unseen(flow: ObservedFlow) -> set[str]:
    """The columns that the captures at hand say nothing of."""
    unseen = set() if flow.at_sender else _AT_SENDER
    unseen = unseen if flow.at_receiver else unseen | {"tcp_throughput_ip_bps"}
    unseen = unseen if flow.tells_arrivals else unseen | _ARRIVALS
    return unseen if flow.at_both else unseen | _AT_BOTH


def _udp_only(flow: ObservedFlow, bins: Bins) -> dict[str, Float]:
    datagrams = flow.datagrams
    delay = datagrams.delay
    return {
        "udp_owd_ms": bins.means(delay.utc_ns, delay.value_ms),
        "udp_lost_count": bins.sums(datagrams.lost.utc_ns, datagrams.lost.count),
        "udp_reordered_count": bins.sums(delay.utc_ns, datagrams.late),
    }


def _tcp_only(flow: ObservedFlow, bins: Bins) -> dict[str, Float]:
    rtt, owd = flow.rtt, flow.one_way_delay
    by_sequence, blocks = flow.rtt_by_sequence, flow.ack_blocks
    owd_ms = bins.means(owd.utc_ns, owd.value_ms)

    def count(events: Events) -> Float:
        return bins.sums(events.utc_ns, events.count)

    return {
        "tcp_rtt_ms": bins.means(rtt.utc_ns, rtt.value_ms),
        "tcp_rtt_p95_ms": bins.percentiles(rtt.utc_ns, rtt.value_ms, 95),
        "tcp_rtt_count": bins.counts(rtt.utc_ns),
        "tcp_rtt_seq_ms": bins.means(by_sequence.utc_ns, by_sequence.value_ms),
        "tcp_owd_ms": owd_ms,
        "tcp_self_inflicted_delay_ms": owd_ms - owd.value_ms.min(initial=np.inf),
        "tcp_retransmissions_count": count(flow.retransmissions),
        "tcp_lost_before_link_count": count(flow.lost_before_link),
        "tcp_fast_retransmissions_count": count(flow.causes.fast),
        "tcp_timeout_retransmissions_count": count(flow.causes.timeout),
        "tcp_spurious_retransmissions_count": count(flow.fates.spurious),
        "tcp_lost_in_link_count": count(flow.fates.lost),
        "tcp_reordered_count": count(flow.reordered),
        "tcp_ack_blocks_per_s": bins.counts(blocks.utc_ns) / bins.width_s,
        "tcp_packets_per_ack_block": bins.means(blocks.utc_ns, blocks.packets),
        "tcp_inflight_bytes": inflight_bytes(bins, flow.sent, flow.acks),
    }


def _active(flow: ObservedFlow, bins: Bins) -> npt.NDArray[np.bool_]:
    """Bins between a flow's first payload packet sent and its last one received."""
    starts = bins.edges_utc_ns[:-1]
    begun: npt.NDArray[np.bool_] = starts + bins.width_ns > flow.first_utc_ns
    return begun & (starts <= flow.last_utc_ns)
