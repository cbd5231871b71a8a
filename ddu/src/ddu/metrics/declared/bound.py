# SPDX-License-Identifier: Apache-2.0
"""The bound of every congestion control: the throughput of a sender that knows the link
(docs/bound.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddu.flows.packet_delay import together
from ddu.metrics.metric import Need, SummaryMetric
from ddu.metrics.views import RunView
from ddu.schema.arrays import Float

_NEEDS = (Need.SENDER, Need.RECEIVER, Need.MAC)


@dataclass(frozen=True)
class Front:
    """The Pareto front of throughput over mean one-way delay: no sender can be above it.

    `size_bytes` could be delivered in each interval, in order of delay; `delay_ms` is the least
    one-way delay of a packet that is delivered there.
    """

    size_bytes: Float
    delay_ms: Float

    def most_bytes(self, mean_ms: float) -> float:
        """Return the most bytes whose mean one-way delay is at most `mean_ms`."""
        total = np.cumsum(self.size_bytes)
        mean = np.cumsum(self.size_bytes * self.delay_ms) / np.maximum(total, 1e-9)
        whole = int(np.searchsorted(mean, mean_ms + 1e-9, side="right"))
        if whole == len(total):
            return float(total[-1]) if len(total) else 0.0
        # A part of the next interval: its bytes b with (sum + b d) / (total + b) = mean.
        before = float(total[whole - 1]) if whole else 0.0
        room = before * (mean_ms - float(mean[whole - 1])) if whole else 0.0
        excess_ms = float(self.delay_ms[whole]) - mean_ms
        return before + max(0.0, room / excess_ms)

    def least_ms(self, size_bytes: float) -> float:
        """Return the least mean one-way delay of so many bytes; of all where there are fewer."""
        total = np.cumsum(self.size_bytes)
        taken = np.diff(np.minimum(total, size_bytes), prepend=0.0)
        return float((taken * self.delay_ms).sum() / max(taken.sum(), 1e-9))


def front_of(run: RunView) -> Front | None:
    """Return the front of the run's link in the direction of its first flow, in its traffic time.

    None: the captures or the MAC's capacity are not known.
    """
    mac = run.mac_in_traffic
    name = f"mac_{run.direction}_capacity_sdu_bytes"
    packets = together([flow.packet_owd for flow in run.flows])
    if mac is None or name not in mac or not len(packets.value_ms):
        return None
    by_time = mac.groupby("utc_ns").agg({name: "sum", "duration_ns": "max"}).sort_index()
    size_bytes: Float = by_time[name].to_numpy(dtype="float64", na_value=0.0)
    if not size_bytes.sum():
        return None
    begins = by_time.index.to_numpy(dtype="int64")
    ends = begins + by_time["duration_ns"].to_numpy(dtype="int64")
    least_ms = np.maximum(float(packets.value_ms.min()), _service_ms(run, size_bytes, begins, ends))
    order = np.argsort(least_ms, kind="stable")
    return Front(size_bytes[order], least_ms[order])


def _service_ms(run: RunView, size_bytes: Float, begins: np.ndarray, ends: np.ndarray) -> Float:
    """Return the least time of a packet that is delivered in each interval, by the capacity alone:
    it needs its own size of it, and all of an interval's may come in one moment."""
    sizes = (flow.received.ip_bytes for flow in run.flows)
    packet_bytes = max(float(np.median(one)) for one in sizes if len(one))
    by_begin = np.concatenate([[0.0], np.cumsum(size_bytes)])
    # The last interval at whose begin so much was yet to come of what is there by each end.
    first = np.searchsorted(by_begin, by_begin[1:] - packet_bytes, side="right") - 1
    waited_ns = begins - ends[np.clip(first, 0, len(ends) - 1)]
    service: Float = np.maximum(waited_ns, 0) / 1e6
    return service


def _delivered_bytes(run: RunView) -> float:
    return float(np.nansum(run.mac_values(f"mac_{run.direction}_sdu_bytes")))


def _mean_ms(run: RunView) -> float:
    return float(together([flow.packet_owd for flow in run.flows]).distribution()["mean"] or 0.0)


def _share(run: RunView) -> float | None:
    front = run.once(front_of)
    if front is None:
        return None
    most_bytes = front.most_bytes(_mean_ms(run))
    return _delivered_bytes(run) / most_bytes if most_bytes else None


def _possible_bps(run: RunView) -> float | None:
    share = run.once(_share)
    received = [flow for flow in run.flows if flow.has_arrivals]
    if not share or len(received) < len(run.flows):
        return None
    payload_bytes = sum(int(flow.arrivals[1].sum()) for flow in received)
    return payload_bytes * 8 / run.duration_s / share


def _least_ms(run: RunView) -> float | None:
    front = run.once(front_of)
    return None if front is None else front.least_ms(_delivered_bytes(run))


METRICS = (
    SummaryMetric(
        "of_possible_ratio", "throughput, of the highest that was possible at this delay",
        "Of what was possible",
        details="the bytes that the MAC delivered over the most that any sender could have had "
        "delivered in the traffic time with the mean of `packet_owd_ms` of this run "
        "(docs/bound.md)",
        needs=_NEEDS, of_run=lambda run: run.once(_share),
    ),
    SummaryMetric(
        "possible_bps", "highest throughput that was possible at this delay", "Possible throughput",
        details="`throughput_bps` / `of_possible_ratio`", needs=_NEEDS, of_run=_possible_bps,
    ),
    SummaryMetric(
        "possible_owd_ms", "least mean one-way delay that was possible at this throughput",
        "Possible one-way delay", details="of as many bytes as the MAC delivered (docs/bound.md)",
        needs=_NEEDS, of_run=_least_ms,
    ),
)  # fmt: skip
