# SPDX-License-Identifier: Apache-2.0
"""The clocks of a run whose hosts have one each, estimated from its own packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ddu.align.clocks.bounds import Bounds, ack_instants, joined
from ddu.align.clocks.estimate import METHOD, ClockEstimate, ContradictoryBoundsError, estimate
from ddu.errors import UnreadableInput
from ddu.metrics.delay import one_way_instants
from ddu.metrics.loss import resent_ranges
from ddu.metrics.observe import ObservedFlow, observe_flow
from ddu.readers.recording import Recording, endpoints

FARTHEST_NS = 3600 * 10**9
"""Clocks further apart than an hour are a wrong date or zone, and nothing to be corrected."""


def align_clocks(run: Recording) -> None:
    """Puts every capture on the clock of the first host, and tells how in `run.alignment`.

    Does nothing when the manifest states the clocks' offset. Raises UnreadableInput when packets
    cannot tell it: a direction without any, clocks that were set meanwhile, or an hour apart.
    """
    if run.manifest.time.offset_ns is not None or len(run.captures) < 2:
        return
    first, second = sorted(run.captures, key=lambda host: host != "server")[:2]
    found = _estimate(run, first, second)
    run.clocks[second] = found.clock
    run.captures[second] = run.captures[second].on(found.clock.corrected)
    run.alignment["clocks"] = _told(found, first, second)


def _told(found: ClockEstimate, first: str, second: str) -> dict[str, Any]:
    return {
        "method": METHOD,
        "clock": first,
        "corrected": second,
        "offset_ns": found.clock.offset_ns,
        "offset_at_utc_ns": found.clock.at_utc_ns,
        "uncertainty_ns": found.uncertainty_ns,
        "skew_ppm": found.clock.skew * 1e6,
        "skew_interval_ppm": [found.skew_low * 1e6, found.skew_high * 1e6],
    }


def _estimate(run: Recording, first: str, second: str) -> ClockEstimate:
    upper, lower = (joined(parts) for parts in zip(*_bounds(run, first), strict=True))
    for bounds, way in ((upper, f"{first} to {second}"), (lower, f"{second} to {first}")):
        if not len(bounds):
            raise UnreadableInput(
                run.raw,
                f"no packet from {way} is in both captures, so that the clocks of the two hosts "
                "cannot be compared",
                "state `time.offset_ns` in run.json if it is known",
            )
    apart_ns = int(upper.theta_ns.min())
    if abs(apart_ns) > FARTHEST_NS:
        raise UnreadableInput(
            run.raw,
            f"the clocks of {first} and {second} are {abs(apart_ns) / 3.6e12:.1f} h apart",
            "one of the captures has a wrong date or time zone: shift it (editcap -t), or state "
            "`time.offset_ns` in run.json",
        )
    try:
        return estimate(upper, lower)
    except ContradictoryBoundsError:
        raise UnreadableInput(
            run.raw,
            f"the packets contradict each other about the clocks of {first} and {second}: one was "
            "set while the captures ran, or they are of different traffic",
            "stop NTP from stepping the clocks during a run",
        ) from None


def _bounds(run: Recording, first: str) -> Iterator[tuple[Bounds, Bounds]]:
    """Upper and lower ones, of every flow that is in both captures."""
    yield joined([]), joined([])
    for flow in run.manifest.flows:
        if endpoints(flow) is None:
            continue
        observed = observe_flow(run, flow)
        if observed is not None:
            yield _of_flow(observed, flow.sender.host == first)


def _of_flow(flow: ObservedFlow, forth: bool) -> tuple[Bounds, Bounds]:
    """`forth`: data goes from the first host to the second."""
    if flow.is_tcp:
        resent = resent_ranges(flow.sent)
        sent, received = one_way_instants(flow.sent, flow.received, resent)
        answered, heard = ack_instants(flow.receiver_acks, flow.acks)
    else:
        delay = flow.datagrams.delay
        received = delay.utc_ns
        sent = received - (delay.value_ms * 1e6).round().astype(received.dtype)
        answered = heard = received[:0]
    if forth:
        return Bounds(sent, received - sent), Bounds(heard, answered - heard)
    return Bounds(answered, heard - answered), Bounds(received, sent - received)
