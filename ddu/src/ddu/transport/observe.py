# SPDX-License-Identifier: Apache-2.0
"""A flow as both captures show it: every observation that the tables are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ddu.errors import UnreadableInput
from ddu.packets import TCP
from ddu.run.load import Recording, endpoints
from ddu.run.manifest import Flow
from ddu.tables.bins import Int
from ddu.transport import loss
from ddu.transport.ack_blocks import AckBlocks, ack_blocks
from ddu.transport.datagrams import Datagrams, datagrams
from ddu.transport.delay import one_way_delay
from ddu.transport.goodput import delivered_in_order
from ddu.transport.recovery import Causes, causes
from ddu.transport.rtt import Samples, rtt_by_sequence, rtt_by_timestamps
from ddu.transport.segments import Acks, Segments, Stamps, UInt32


@dataclass(frozen=True)
class ObservedFlow:
    """One data flow; TCP-only metrics are empty for UDP."""

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

    @cached_property
    def resent(self) -> tuple[Int, Int]:
        return loss.resent_ranges(self.sent)

    @cached_property
    def rtt(self) -> Samples:
        return rtt_by_timestamps(self.tsval, self.tsecr)

    @property  # asked for once, and as large as the ACKs: not kept
    def rtt_by_sequence(self) -> Samples:
        return rtt_by_sequence(self.sent, self.acks, self.resent)

    @cached_property
    def one_way_delay(self) -> Samples:
        if not self.is_tcp:
            return self.datagrams.delay
        return one_way_delay(self.sent, self.received, self.resent)

    @cached_property
    def delivered(self) -> tuple[Int, Int | UInt32]:
        if self.is_tcp:
            return delivered_in_order(self.received, self.receiver_acks)
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
        return loss.fates(self.sent, self.received)

    @property
    def lost(self) -> loss.Events:
        """In the link, whatever the protocol."""
        return self.fates.lost if self.is_tcp else self.datagrams.lost

    @cached_property
    def ack_blocks(self) -> AckBlocks:
        return ack_blocks(self.sent, self.acks)

    @cached_property
    def datagrams(self) -> Datagrams:
        return datagrams(self.sent, self.received)

    @cached_property
    def reordered(self) -> loss.Events:
        return loss.reordered(self.received, self.resent)


def observe(run: Recording) -> list[ObservedFlow]:
    """The data flows that sent payload, in the manifest's order; others are told in `faults`.

    Raises UnreadableInput when none did.
    """
    flows = []
    for flow in run.manifest.flows:
        observed = observe_flow(run, flow)
        if observed is None:
            run.faults.append(f"Flow {flow.id}: no payload packet in the captures.")
        else:
            flows.append(observed)
    if not flows:
        files = " and ".join(capture.file.name for capture in run.captures.values())
        raise UnreadableInput(
            run.raw, f"none of the run's flows has a payload packet in {files}", "was it captured?"
        )
    return flows


def observe_flow(run: Recording, flow: Flow) -> ObservedFlow | None:
    """None: its ends are not known, a host has no capture, or it sent no payload."""
    tuple_ = endpoints(flow)
    at_sender, at_receiver = (
        run.captures.get(flow.sender.host),
        run.captures.get(flow.receiver.host),
    )
    if tuple_ is None or at_sender is None or at_receiver is None:
        return None
    src, sport, dst, dport = tuple_
    data = at_sender.connection(src, sport, dst, dport)
    back = at_sender.connection(dst, dport, src, sport)
    if data is None:
        return None
    origin = at_sender.origin(data)
    ack_origin = 0 if back is None else at_sender.origin(back)

    forth = at_sender.direction(data, origin, ack_origin)
    returned = at_sender.direction(back, ack_origin, origin)
    arrived = at_receiver.connection(src, sport, dst, dport)
    answered = at_receiver.connection(dst, dport, src, sport)
    is_tcp = at_sender.protocol(data) == TCP
    observed = ObservedFlow(
        flow,
        is_tcp,
        sent=forth.payload,
        tsval=forth.tsval,
        acks=returned.acks,
        tsecr=returned.tsecr,
        received=at_receiver.direction(arrived, origin, ack_origin).payload,
        receiver_acks=at_receiver.direction(answered, ack_origin, origin).acks,
        back_ip_bytes=at_receiver.wire_ip_bytes(answered),
    )
    return observed if len(observed.sent) else None
