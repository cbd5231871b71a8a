# SPDX-License-Identifier: Apache-2.0
"""Flows as the captures show them: the observations that metrics are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ddu.flows import loss
from ddu.flows.ack_blocks import AckBlocks, ack_blocks
from ddu.flows.datagrams import Datagrams, datagrams
from ddu.flows.delay import one_way_delay
from ddu.flows.goodput import acknowledged, delivered_in_order
from ddu.flows.packet_delay import PacketDelays, rtt_of_packets
from ddu.flows.recovery import Causes, causes
from ddu.flows.rtt import Echoes, Samples, echoes, rtt_by_sequence, rtt_by_timestamps
from ddu.readers.packets.segments import Acks, Direction, Segments, Stamps
from ddu.readers.packets.split import NOTHING, SplitCapture
from ddu.readers.packets.tables import TCP
from ddu.run.manifest import Flow
from ddu.schema.arrays import Int, UInt32


@dataclass(frozen=True)
class ObservedFlow:
    """One data flow; TCP-only metrics are empty for UDP.

    With one capture, the other side's packets are empty, and so is what needs both: `at_sender` and
    `at_receiver` distinguish nothing observed from not captured.
    """

    flow: Flow
    is_tcp: bool
    sent: Segments
    """Payload packets in the sender's capture."""
    tsval: Stamps
    acks: Acks
    """Packets with the ACK flag from the receiver, in the sender's capture."""
    tsecr: Stamps
    received: Segments
    """Payload packets in the receiver's capture."""
    receiver_acks: Acks
    back_ip_bytes: int
    """IP bytes that the receiver sent, by its own capture."""
    origin: int = 0
    """The header's number of the stream's first byte, from which `sent` and ACKs count."""
    captured_until_ns: int = 0
    """The last packet of any connection, in the capture that ended first."""
    at_sender: bool = True
    at_receiver: bool = True
    """Whether that side was captured."""

    @property
    def at_both(self) -> bool:
        return self.at_sender and self.at_receiver

    @cached_property
    def is_paired(self) -> bool:
        """Whether each packet can be found in both captures. Datagrams that segmentation or receive
        offload hands over together (GSO, GRO) cannot: nothing in them says where each begins."""
        if not self.at_both or self.is_tcp:
            return self.at_both
        return all((side.segment_count == 1).all() for side in (self.sent, self.received))

    @cached_property
    def first_utc_ns(self) -> int:
        """The first payload packet, at the sender if that was captured."""
        return int((self.sent if self.at_sender else self.received).utc_ns[0])

    @cached_property
    def last_sent_utc_ns(self) -> int:
        """The last payload packet, at the sender if that was captured."""
        return int((self.sent if self.at_sender else self.received).utc_ns[-1])

    @cached_property
    def last_utc_ns(self) -> int:
        """The last payload packet in either capture; of the sender's alone, the last new ACK, since
        data counts as delivered when its ACK is back."""
        last = [self.sent.utc_ns[-1:], self.received.utc_ns[-1:]]
        if self.is_tcp and not self.at_receiver:
            last.append(self.delivered[0][-1:])
        return int(np.concatenate(last).max())

    @cached_property
    def resent(self) -> tuple[Int, Int]:
        return loss.resent_ranges(self.sent)

    @cached_property
    def rtt(self) -> Samples:
        return rtt_by_timestamps(self._echoes)

    @cached_property
    def packet_rtt(self) -> PacketDelays:
        return rtt_of_packets(self.sent, self._echoes)

    @cached_property
    def _echoes(self) -> Echoes:
        return echoes(self.tsval, self.tsecr)

    @property  # asked for once, and as large as the ACKs: not kept
    def rtt_by_sequence(self) -> Samples:
        return rtt_by_sequence(self.sent, self.acks, self.resent)

    @property
    def one_way_delay(self) -> Samples:
        return self._one_way[0]

    @cached_property
    def packet_owd(self) -> PacketDelays:
        delay, segment_count, _ = self._one_way
        return PacketDelays(delay.value_ms, segment_count)

    @property
    def owd_ip_bytes(self) -> UInt32:
        """The IP bytes that each sample of the one-way delay stands for."""
        return self._one_way[2]

    @cached_property
    def _one_way(self) -> tuple[Samples, UInt32, UInt32]:
        """The one-way delays, and how many segments and IP bytes each stands for."""
        if not self.is_tcp and not self.is_paired:
            none = np.zeros(0, dtype=np.uint32)
            return Samples(np.zeros(0, dtype=np.int64), np.zeros(0)), none, none
        if not self.is_tcp:
            delay = self.datagrams.delay
            return delay, np.ones(len(delay), dtype=np.uint32), self.datagrams.ip_bytes
        delay, known = one_way_delay(self.sent, self.received, self.resent)
        return delay, self.received.segment_count[known], self.received.ip_bytes[known]

    @cached_property
    def delivered(self) -> tuple[Int, Int | UInt32]:
        """New payload in order: at the receiver, or, of the sender's side alone, when its ACK is
        back."""
        if self.is_tcp and not self.at_receiver:
            return acknowledged(self.sent, self.acks)
        if self.is_tcp:
            return delivered_in_order(self.received, self.receiver_acks)
        return self.received.utc_ns, self.received.payload_bytes

    @property
    def has_arrivals(self) -> bool:
        """Whether it is known what arrived; UDP has no ACKs, so its sender's capture does not show
        it."""
        return self.at_receiver or self.is_tcp

    @property
    def arrivals(self) -> tuple[Int, Int | UInt32]:
        """Payload that reached the receiver, duplicates included where they can be seen."""
        if not self.at_receiver:
            return self.delivered
        return self.received.utc_ns, self.received.payload_bytes

    @cached_property
    def retransmissions(self) -> loss.Events:
        return loss.retransmissions(self.sent)

    @cached_property
    def lost_before_link(self) -> loss.Events:
        return loss.lost_before_link(self.sent)

    @cached_property
    def causes(self) -> Causes:
        return causes(self.sent, self.acks, self.resent)

    @cached_property
    def fates(self) -> loss.Fates:
        delay_ms = self.one_way_delay.value_ms
        # Without an arrival it is not known how long one takes.
        longest_ns = int(delay_ms.max() * 1e6) if len(delay_ms) else np.iinfo(np.int64).max
        acked = int(self.acks.ack.max(initial=0))
        return loss.fates(self.sent, self.received, acked, longest_ns, self._until_ns)

    @property
    def _until_ns(self) -> int:
        """The time up to which both captures would have shown a packet of the flow."""
        return max(self.captured_until_ns, loss.end_ns(self.sent, self.received))

    @property
    def lost(self) -> loss.Events:
        """Losses in the link, of either protocol."""
        return self.fates.lost if self.is_tcp else self.datagrams.lost

    @cached_property
    def ack_blocks(self) -> AckBlocks:
        return ack_blocks(self.sent, self.acks)

    @cached_property
    def datagrams(self) -> Datagrams:
        return datagrams(self.sent, self.received, self._until_ns)

    @cached_property
    def reordered(self) -> loss.Events:
        return loss.reordered(self.received, self.resent)


def observe(
    flows: Sequence[Flow], captures: Mapping[str, SplitCapture]
) -> tuple[tuple[ObservedFlow, ...], tuple[str, ...]]:
    """Return the data flows that sent payload, in the manifest's order, and which did not, as
    faults."""
    until_ns = {host: one.last_utc_ns for host, one in captures.items()}
    observed = {flow.id: _observe_flow(flow, captures, until_ns) for flow in flows}
    return (
        tuple(one for one in observed.values() if one is not None),
        tuple(
            f"Flow {name}: no payload packet in the captures."
            for name, one in observed.items()
            if one is None
        ),
    )


def _observe_flow(
    flow: Flow, captures: Mapping[str, SplitCapture], until_ns: Mapping[str, int]
) -> ObservedFlow | None:
    """Return a flow; None if its ports are not known, neither host has a capture, or it sent no
    payload."""
    ends = flow.endpoints
    at_sender = captures.get(flow.sender.host)
    at_receiver = captures.get(flow.receiver.host)
    first = at_sender or at_receiver
    if ends is None or first is None:
        return None
    src, sport, dst, dport = ends
    data, back = first.connection(src, sport, dst, dport), first.connection(dst, dport, src, sport)
    if data is None:
        return None
    # Both captures count from the numbers of one: the bytes are then the same in both.
    origins = first.origin(data), 0 if back is None else first.origin(back)
    forth, returned = _directions(at_sender, ends, origins)
    arrived, answered = _directions(at_receiver, ends, origins)
    observed = ObservedFlow(
        flow,
        first.protocol(data) == TCP,
        sent=forth.payload,
        tsval=forth.tsval,
        acks=returned.acks,
        tsecr=returned.tsecr,
        received=arrived.payload,
        receiver_acks=answered.acks,
        back_ip_bytes=_back_ip_bytes(at_receiver, ends),
        origin=origins[0],
        captured_until_ns=min(
            until_ns[end.host] for end in (flow.sender, flow.receiver) if end.host in until_ns
        ),
        at_sender=at_sender is not None,
        at_receiver=at_receiver is not None,
    )
    return observed if len(observed.sent if at_sender else observed.received) else None


def _directions(
    capture: SplitCapture | None, ends: tuple[str, int, str, int], origins: tuple[int, int]
) -> tuple[Direction, Direction]:
    if capture is None:
        return NOTHING, NOTHING
    src, sport, dst, dport = ends
    data, back = capture.connection(*ends), capture.connection(dst, dport, src, sport)
    return capture.direction(data, *origins), capture.direction(back, *reversed(origins))


def _back_ip_bytes(capture: SplitCapture | None, ends: tuple[str, int, str, int]) -> int:
    src, sport, dst, dport = ends
    return (
        0 if capture is None else capture.wire_ip_bytes(capture.connection(dst, dport, src, sport))
    )
