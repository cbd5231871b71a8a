# SPDX-License-Identifier: Apache-2.0
"""UDP: the same datagram in both captures. UDP has no sequence numbers, so datagrams are
recognised by their length and first bytes (`udp_digest`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.flows.loss import Events, rank_within
from ddu.flows.rtt import Samples
from ddu.readers.packets.segments import Segments
from ddu.schema.arrays import UInt32


@dataclass(frozen=True)
class Datagrams:
    """The fate of a UDP flow's datagrams."""

    delay: Samples
    """The delay of each received datagram that was sent once in this form."""
    lost: Events
    """Those that were sent and not received, by time of sending."""
    ip_bytes: UInt32
    """Per sample of `delay`: its size."""
    late: npt.NDArray[np.bool_]
    """Per sample of `delay`: it was sent before another that arrived before it."""


def datagrams(sent: Segments, received: Segments, until_ns: int) -> Datagrams:
    """Match the datagrams of the two captures.

    Datagrams that cannot be distinguished (an iperf3 without its counter, say) have no delay; of
    them as many are lost as did not arrive, and the earliest. What was sent after the last one that
    arrived may have been under way when the captures ended: it is lost if they went on (`until_ns`)
    for longer than any datagram took, and otherwise left open.
    """
    sent, received = _with_digest(sent), _with_digest(received)
    of_sent, copies = np.unique(sent.digest, return_counts=True)
    of_received, arrivals = np.unique(received.digest, return_counts=True)
    shared, in_sent, in_received = np.intersect1d(
        of_sent, of_received, assume_unique=True, return_indices=True
    )
    alone = shared[(copies[in_sent] == 1) & (arrivals[in_received] == 1)]
    delay, ip_bytes, late = _delays(sent, received, alone)
    open_from_ns = until_ns - int(delay.value_ms.max(initial=0) * 1e6)
    lost = _lost(sent, of_sent, copies, in_sent, arrivals[in_received], open_from_ns)
    return Datagrams(delay, lost, ip_bytes, late)


def _with_digest(packets: Segments) -> Segments:
    return packets.where(np.full(len(packets), len(packets.digest) > 0))


def _delays(
    sent: Segments, received: Segments, alone: npt.NDArray[np.uint64]
) -> tuple[Samples, UInt32, npt.NDArray[np.bool_]]:
    begin = np.flatnonzero(np.isin(sent.digest, alone))
    end = np.flatnonzero(np.isin(received.digest, alone))
    # Both lists hold the same digests: the one in the other's order.
    order = np.argsort(received.digest[end])
    place = np.searchsorted(received.digest[end], sent.digest[begin], sorter=order)
    arrival = end[order[place]]
    by_arrival = np.argsort(arrival, kind="stable")
    sent_utc_ns = sent.utc_ns[begin][by_arrival]
    arrival = arrival[by_arrival]
    received_utc_ns = received.utc_ns[arrival]
    latest = np.maximum.accumulate(sent_utc_ns)
    delay = Samples(received_utc_ns, (received_utc_ns - sent_utc_ns) / 1e6)
    return delay, received.ip_bytes[arrival], sent_utc_ns < latest


def _lost(
    sent: Segments,
    of_sent: npt.NDArray[np.uint64],
    copies: npt.NDArray[np.intp],
    in_sent: npt.NDArray[np.intp],
    arrivals: npt.NDArray[np.intp],
    open_from_ns: int,
) -> Events:
    missing = copies.copy()
    missing[in_sent] -= arrivals
    group = np.searchsorted(of_sent, sent.digest)
    arrived = rank_within(group) >= missing[group]
    last = np.flatnonzero(arrived)[-1] if arrived.any() else -1
    # Without an arrival it is not known how long one takes.
    late = (sent.utc_ns < open_from_ns) & arrived.any()
    lost = sent.where(~arrived & ((np.arange(len(sent)) < last) | late))
    return Events(lost.utc_ns, lost.segment_count.astype(np.float64), lost.payload_bytes)
