# SPDX-License-Identifier: Apache-2.0
"""An upper bound on the throughput of every congestion control: that of a sender that knows the
link. docs/bound.md proves that no run is above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ddu.metrics.declared.rates import received_bps
from ddu.metrics.metric import Need, SummaryMetric, Value
from ddu.metrics.views import RunView
from ddu.schema.arrays import Int

_NEEDS = (Need.BOTH, Need.MAC)
_DIRECTIONS = ("dl", "ul")
_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Front:
    """The Pareto front of bytes over their mean one-way delay: no sender can be above it.

    `size_bytes` could be delivered in each interval, in order of delay; `delay_ns` is the least
    one-way delay of a packet that is delivered there.
    """

    size_bytes: Int
    delay_ns: Int

    @classmethod
    def over(
        cls, capacity_bytes: Int, begins_ns: Int, ends_ns: Int, least_ns: int, packet_bytes: int
    ) -> Front:
        """Return the front of a link with this capacity in each interval of time, for packets that
        have at least `packet_bytes` and take at least `least_ns`."""
        waited_ns = _waited_ns(capacity_bytes, begins_ns, ends_ns, packet_bytes)
        delay_ns = np.maximum(least_ns, waited_ns)
        order = np.argsort(delay_ns, kind="stable")
        return cls(capacity_bytes[order], delay_ns[order])

    def most_bytes(self, mean_ns: int) -> int:
        """Return the most bytes whose mean one-way delay is at most `mean_ns`."""
        total, spare = 0, 0  # spare: by how much the bytes so far are below the mean, byte ns
        for size, delay_ns in self._intervals():
            excess_ns = delay_ns - mean_ns
            if size * excess_ns > spare:
                return total + spare // excess_ns
            total, spare = total + size, spare - size * excess_ns
        return total

    def least_ns(self, size_bytes: int) -> float:
        """Return the least mean one-way delay of `size_bytes`; that of all bytes if the front has
        fewer."""
        total, delay_byte_ns = 0, 0
        for size, delay_ns in self._intervals():
            taken = min(size, size_bytes - total)
            total, delay_byte_ns = total + taken, delay_byte_ns + taken * delay_ns
        return delay_byte_ns / max(total, 1)

    def _intervals(self) -> zip[tuple[int, int]]:
        # Python's integers: products of bytes and ns may exceed 64 bits.
        return zip(self.size_bytes.tolist(), self.delay_ns.tolist(), strict=True)


def _waited_ns(capacity_bytes: Int, begins_ns: Int, ends_ns: Int, packet_bytes: int) -> Int:
    """Return the least delay that the capacity allows a packet delivered in each interval j:
    b(j) minus e(k) of docs/bound.md, step 3. It can be below 0, since all of an interval's capacity
    may come in one moment."""
    by_begin = np.concatenate([[0], np.cumsum(capacity_bytes)])
    # k: the last interval from whose begin to the end of j the capacity holds the packet.
    latest = np.searchsorted(by_begin, by_begin[1:] - packet_bytes, side="right") - 1
    waited: Int = begins_ns - ends_ns[np.clip(latest, 0, len(ends_ns) - 1)]
    return waited


@dataclass(frozen=True)
class Delivered:
    """The packets of a direction whose one-way delay is known."""

    ip_bytes: Int
    delay_ns: Int

    @property
    def total_bytes(self) -> int:
        return int(self.ip_bytes.sum())

    @property
    def mean_ns(self) -> int:
        """The mean delay of their bytes, rounded up to whole ns."""
        ms, ns = np.divmod(self.delay_ns, _NS_PER_MS)  # Σ bytes · ns may exceed 64 bits.
        delay_byte_ns = int(self.ip_bytes @ ms) * _NS_PER_MS + int(self.ip_bytes @ ns)
        return -(-delay_byte_ns // self.total_bytes)


def delivered(run: RunView, direction: str) -> Delivered:
    """Return the packets that were sent once, and received before the MAC's last interval ended,
    after which the capacity is not known."""
    flows = run.in_direction(direction)
    at_ns = np.concatenate([flow.one_way_delay.utc_ns for flow in flows])
    delay_ms = np.concatenate([flow.one_way_delay.value_ms for flow in flows])
    ip_bytes = np.concatenate([flow.owd_ip_bytes for flow in flows])
    mac = run.mac_in_traffic
    known = at_ns <= (0 if mac is None else (mac["utc_ns"] + mac["duration_ns"]).max())
    delay_ns = np.rint(delay_ms[known] * _NS_PER_MS).astype(np.int64)
    return Delivered(ip_bytes[known].astype(np.int64), delay_ns)


def front_of(run: RunView, direction: str, packets: Delivered) -> Front | None:
    """Return the front of the run's link in a direction, in its traffic time, for such packets.

    None if the link's capacity is not known, or there is no such packet.
    """
    mac = run.capacity_bytes(direction)
    if mac is None or not packets.total_bytes:
        return None
    # Counters are rounded, so that a difference may be too small by nearly a byte.
    mac = mac.assign(capacity_bytes=mac["capacity_bytes"] + 1)
    by_time = mac.groupby("utc_ns").agg({"capacity_bytes": "sum", "duration_ns": "max"})
    capacity_bytes = by_time["capacity_bytes"].to_numpy(dtype=np.int64)
    begins_ns = by_time.index.to_numpy(dtype=np.int64)
    ends_ns = begins_ns + by_time["duration_ns"].to_numpy(dtype=np.int64)
    least_ns, least_bytes = int(packets.delay_ns.min()), int(packets.ip_bytes.min())
    return Front.over(capacity_bytes, begins_ns, ends_ns, least_ns, least_bytes)


@dataclass(frozen=True)
class Reached:
    """A direction's throughput and delay, beside the best that were possible."""

    share: float | None
    """The delivered share of the most bytes that were possible at their mean delay."""
    possible_bps: float | None
    """The highest throughput at that delay."""
    least_ms: float
    """The least mean one-way delay of as many bytes."""


def _reached(run: RunView) -> dict[str, Reached]:
    """Return the values of each direction that has flows and a front."""
    reached: dict[str, Reached] = {}
    for direction in sorted({flow.flow.direction for flow in run.flows}):
        packets = delivered(run, direction)
        front = front_of(run, direction, packets)
        if front is None:
            continue
        most_bytes = front.most_bytes(packets.mean_ns)
        share = packets.total_bytes / most_bytes if most_bytes else None
        rate_bps = received_bps(run, run.in_direction(direction))
        possible_bps = rate_bps / share if share and rate_bps is not None else None
        least_ms = front.least_ns(packets.total_bytes) / _NS_PER_MS
        reached[direction] = Reached(share, possible_bps, least_ms)
    return reached


def _of_each(value: Callable[[Reached], float | None]) -> Callable[[RunView], Value]:
    """Return a value for each direction; null where it is not known."""

    def values(run: RunView) -> Value:
        known = {direction: value(one) for direction, one in run.once(_reached).items()}
        return dict.fromkeys(_DIRECTIONS) | known

    return values


METRICS = (
    SummaryMetric(
        "of_possible_ratio", "throughput, of the highest that was possible at this delay",
        "Of what was possible",
        details="the IP bytes of packets that were sent once and delivered in the direction, "
        "over the most that any sender could have had delivered in the traffic "
        "time with the mean one-way delay of these bytes (docs/bound.md)",
        needs=_NEEDS, parts=_DIRECTIONS, of_run=_of_each(lambda reached: reached.share),
    ),
    SummaryMetric(
        "possible_bps", "highest throughput that was possible at this delay", "Possible throughput",
        details="the throughput of the direction's flows over the traffic time, over "
        "`of_possible_ratio`", needs=_NEEDS, parts=_DIRECTIONS,
        of_run=_of_each(lambda reached: reached.possible_bps),
    ),
    SummaryMetric(
        "possible_owd_ms", "least mean one-way delay that was possible at this throughput",
        "Possible one-way delay",
        details="of as many bytes as were delivered in the direction (docs/bound.md)",
        needs=_NEEDS, parts=_DIRECTIONS, of_run=_of_each(lambda reached: reached.least_ms),
    ),
)  # fmt: skip
