# SPDX-License-Identifier: Apache-2.0
"""The transfer of a given volume: how much, from when, and until when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow

# As run.json says of the flow's traffic: tcp:5B, quic:bbr+volume=5B+0rtt.
_VOLUME = re.compile(r"(?:tcp:|quic:(?:.+\+)?volume=)(\d+)B(?:\+.+)?")


@dataclass(frozen=True)
class Transfer:
    """The time from the first payload packet sent until the volume had arrived."""

    begin_utc_ns: int
    end_utc_ns: int


def volume_bytes(flow: ObservedFlow) -> int | None:
    """Return the volume that run.json says of the flow's traffic."""
    traffic = (flow.flow.model_extra or {}).get("traffic")
    written = _VOLUME.fullmatch(traffic) if isinstance(traffic, str) else None
    return int(written[1]) if written else None


def completion_s(run: AlignedRun, flows: Sequence[ObservedFlow]) -> float | None:
    """Return the time of all these transfers; None unless each flow had one, and completed it."""
    transfers = [_transfer(run, flow) for flow in flows]
    known = [one for one in transfers if one is not None]
    if not known or len(known) < len(transfers):
        return None
    begin = min(one.begin_utc_ns for one in known)
    return (max(one.end_utc_ns for one in known) - begin) / 1e9


def _transfer(run: AlignedRun, flow: ObservedFlow) -> Transfer | None:
    size_bytes = volume_bytes(flow)
    if size_bytes is None:
        return None
    return _over_tcp(flow, size_bytes) if flow.is_tcp else _over_quic(run, flow, size_bytes)


def _over_tcp(flow: ObservedFlow, size_bytes: int) -> Transfer | None:
    """Return the time until so much had arrived in order."""
    instants, sizes = flow.delivered
    row = int(np.searchsorted(np.cumsum(sizes, dtype=np.int64), size_bytes))
    return Transfer(flow.first_utc_ns, int(instants[row])) if row < len(instants) else None


def _over_quic(run: AlignedRun, flow: ObservedFlow, size_bytes: int) -> Transfer | None:
    """Return the time between the first payload in the sender's log and the last at the receiver.

    Captures do not show payload, which is encrypted. The receiver counts it, and says how long it
    took from the first to the last.
    """
    first, counted_s = run.first_payloads.get(flow.flow.id), flow.flow.with_drain_s
    if first is None or counted_s is None or (flow.flow.received_bytes or 0) < size_bytes:
        return None
    return Transfer(first.sent_utc_ns, first.arrived_utc_ns + round(counted_s * 1e9))
