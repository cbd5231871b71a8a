# SPDX-License-Identifier: Apache-2.0
"""Sentences about what a capture of one side alone leaves unknown."""

from __future__ import annotations

from collections.abc import Sequence

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow

BY_RECEIVER = "receiver's capture"
BY_ACKS = "acknowledgements"

_SENDER_ALONE = (
    "Throughput and goodput are what the receiver acknowledged, at the instant when that came "
    "back. One-way delay, losses in the link, reordering and spurious retransmissions need the "
    "receiver's capture too and are null."
)
_UDP_SENDER_ALONE = (
    "UDP has no acknowledgements: what arrived, when, and what was lost need the receiver's "
    "capture and are null."
)
_RECEIVER_ALONE = (
    "Sending rate, RTT, retransmissions, bytes in flight and ACK blocks need the sender's capture, "
    "one-way delay, losses and reordering both; they are null."
)
_DATAGRAMS_TOGETHER = (
    "The captures hold several datagrams in one packet, as offloads hand them over (GSO, GRO). "
    "One-way delay, losses and reordering of datagrams are null; QUIC's own log has its RTT and "
    "losses."
)


def arrivals_source(flow: ObservedFlow) -> str | None:
    """Return the source of what arrived; None without any."""
    if flow.at_receiver:
        return BY_RECEIVER
    return BY_ACKS if flow.has_arrivals else None


def unseen(run: AlignedRun, flows: Sequence[ObservedFlow]) -> list[str]:
    """Return a sentence for each kind of flow whose packets are not known at both sides."""
    by_text: dict[str, list[str]] = {}
    for flow in flows:
        if not flow.is_paired:
            by_text.setdefault(_of_flow(flow), []).append(flow.flow.id)
    sentences = [f"{', '.join(ids)}: {text}" for text, ids in by_text.items()]
    if by_text and run.manifest.time.offset_ns is None and len(run.captures) == 1:
        host = next(iter(run.captures))
        sentences.append(
            f"The hosts have a clock each, and the capture of {host} alone does not show how far "
            "apart they are: what another host stamped is on that host's own clock."
        )
    return sentences


def _of_flow(flow: ObservedFlow) -> str:
    if flow.at_both:
        return _DATAGRAMS_TOGETHER
    if not flow.at_sender:
        host = flow.flow.receiver.host
        return f"Only the receiver's side ({host}) was captured. {_RECEIVER_ALONE}"
    what = _SENDER_ALONE if flow.is_tcp else _UDP_SENDER_ALONE
    return f"Only the sender's side ({flow.flow.sender.host}) was captured. {what}"
