# SPDX-License-Identifier: Apache-2.0
"""The bounds that the packets of observed flows set on the offset of two hosts' clocks."""

from __future__ import annotations

from collections.abc import Sequence

from ddu.align.clocks.bounds import Bounds, ack_instants, joined
from ddu.flows.observe import ObservedFlow
from ddu.flows.rtt import sending_of


def clock_bounds(flows: Sequence[ObservedFlow], first: str) -> tuple[Bounds, Bounds]:
    """Return the upper and the lower bounds on the offset of the second host's clock against the
    first's, by every flow that is in both captures."""
    pairs = [_bounds(flow, flow.flow.sender.host == first) for flow in flows]
    return joined(upper for upper, _ in pairs), joined(lower for _, lower in pairs)


def _bounds(flow: ObservedFlow, from_first: bool) -> tuple[Bounds, Bounds]:
    """`from_first`: the data goes from the first host to the second."""
    if flow.is_tcp:
        sent, known = sending_of(flow.received.end - 1, flow.sent, flow.resent)
        received = flow.received.utc_ns[known]
        answered, heard = ack_instants(flow.receiver_acks, flow.acks)
    else:
        delay = flow.datagrams.delay
        received = delay.utc_ns
        sent = received - (delay.value_ms * 1e6).round().astype(received.dtype)
        answered = heard = received[:0]
    if from_first:
        return Bounds(sent, received - sent), Bounds(heard, answered - heard)
    return Bounds(answered, heard - answered), Bounds(received, sent - received)
