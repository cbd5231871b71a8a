# SPDX-License-Identifier: Apache-2.0
"""The clocks of a run's hosts: as run.json states them, or estimated from the run's own packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ddu.align.clocks.bounds import Bounds
from ddu.align.clocks.clock import RUN_CLOCK, Clock
from ddu.align.clocks.estimate import METHOD, ClockEstimate, ContradictoryBoundsError, estimate
from ddu.errors import UnreadableInput
from ddu.readers.packets.split import SplitCapture
from ddu.run.manifest import Manifest

FARTHEST_NS = 3600 * 10**9
"""Clocks further apart than an hour have a wrong date or zone, which is an error."""


@dataclass(frozen=True)
class HostClocks:
    """The clock of each host against that of the run."""

    by_host: Mapping[str, Clock]
    alignment: Mapping[str, Any]
    """The method of an estimated clock, under `clocks`; empty if the offset is stated."""

    def of(self, host: str) -> Clock:
        """Return the clock of a host; the run's own if nothing is known of it."""
        return self.by_host.get(host, RUN_CLOCK)

    def corrected(self, captures: Mapping[str, SplitCapture]) -> dict[str, SplitCapture]:
        """Return the captures with their times on the run's clock."""
        return {host: own.on(self.of(host).corrected) for host, own in captures.items()}


def stated_clocks(manifest: Manifest) -> HostClocks:
    """Return the clocks by the offset in run.json, 0 if it has none."""
    return HostClocks({"ue": Clock(manifest.time.offset_ns or 0)}, {})


def unrelated_hosts(manifest: Manifest, captures: Mapping[str, object]) -> tuple[str, str] | None:
    """Return two hosts with a capture and a clock each; None if their offset is stated.

    The clock of the first, the server's if it has a capture, is that of the run.
    """
    if manifest.time.offset_ns is not None or len(captures) < 2:
        return None
    first, second = sorted(captures, key=lambda host: host != "server")[:2]
    return first, second


def estimated_clocks(raw: Path, hosts: tuple[str, str], upper: Bounds, lower: Bounds) -> HostClocks:
    """Estimate the second host's clock by the bounds that packets set.

    Raises UnreadableInput when they cannot show it: a direction without any, clocks that were set
    meanwhile, or an hour apart.
    """
    first, second = hosts
    for bounds, direction in ((upper, f"{first} to {second}"), (lower, f"{second} to {first}")):
        if not len(bounds):
            raise UnreadableInput(
                raw,
                f"no packet from {direction} is in both captures, so that the clocks of the two "
                "hosts cannot be compared",
                "state `time.offset_ns` in run.json if it is known",
            )
    apart_ns = int(upper.theta_ns.min())
    if abs(apart_ns) > FARTHEST_NS:
        raise UnreadableInput(
            raw,
            f"the clocks of {first} and {second} are {abs(apart_ns) / 3.6e12:.1f} h apart",
            "one of the captures has a wrong date or time zone: shift it (editcap -t), or state "
            "`time.offset_ns` in run.json",
        )
    try:
        clocks_estimate = estimate(upper, lower)
    except ContradictoryBoundsError:
        raise UnreadableInput(
            raw,
            f"the packets contradict each other about the clocks of {first} and {second}: one was "
            "set while the captures ran, or they are of different traffic",
            "stop NTP from stepping the clocks during a run",
        ) from None
    return HostClocks(
        {"ue": Clock(), second: clocks_estimate.clock},
        {"clocks": _alignment(clocks_estimate, first, second)},
    )


def _alignment(clocks_estimate: ClockEstimate, first: str, second: str) -> dict[str, Any]:
    return {
        "method": METHOD,
        "clock": first,
        "corrected": second,
        "offset_ns": clocks_estimate.clock.offset_ns,
        "offset_at_utc_ns": clocks_estimate.clock.at_utc_ns,
        "uncertainty_ns": clocks_estimate.uncertainty_ns,
        "skew_ppm": clocks_estimate.clock.skew * 1e6,
        "skew_interval_ppm": [clocks_estimate.skew_low * 1e6, clocks_estimate.skew_high * 1e6],
    }
