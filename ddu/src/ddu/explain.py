# SPDX-License-Identifier: Apache-2.0
"""The delay of single packets in words: `ddu explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddu.api import Run, open_run
from ddu.console.problems import RefusedError, refusal
from ddu.readers.delays import parts_of

_NEAR_NS = 2_000_000
"""Packets that were captured so close to each other are one incident."""
_LEAST_NS = 1_000
"""A part below this is not worth a line: the clock's step in virtual time is 256 ns."""

SENTENCES = {
    "sender": "in the sending host, between its capture and the link",
    "line": "on the path's line of limited rate: behind others, and its own transmission",
    "path": "the path's constant delay",
    "queue": "behind others in the RLC queue",
    "tdd": "no slot of its direction (the rest of a slot, TDD)",
    "request": "until the UE could ask for a grant",
    "grant": "until a grant: the gNB did not know yet, or knew of too few bytes",
    "blocked": "slots that could not have a new block of the UE: its retransmission was in them, "
    "or it had no free HARQ process, no room for an acknowledgement, or no channel report",
    "priority": "slots that other UEs had",
    "service": "until the link had carried all: its rate, and RLC's retransmissions of others",
    "sleep": "the UE slept: DRX, or no RRC connection",
    "transmission": "its slot on the air, decoding, and scheduling ahead",
    "harq": "HARQ retransmissions",
    "rlc": "RLC's status report and retransmission, after HARQ gave up",
    "order": "until earlier data had come: in-order delivery",
    "handover": "a change of the serving cell, leg or beam",
    "radio": "inside of the radio, which states no reasons",
    "receiver": "in the receiving host, between the link and its capture",
}
"""The cause of each part of a delay, in words."""


def at(path: Path, t_s: float, most: int = 3) -> str:
    """Say what happened to the `most` packets of each flow and role that were sent nearest to
    `t_s`, seconds since the first payload packet. Raises RefusedError."""
    run = open_run(path)
    packets = _packets(run)
    last_s = float(packets["t_s"].max())
    if t_s > last_s:
        raise refusal(
            f"{t_s:g} s is after the run's last packet, of {last_s:.3f} s", "give an earlier --at"
        )
    distance = (packets["t_s"] - t_s).abs()
    near = packets.assign(distance=distance).sort_values("distance", kind="stable")
    chosen = (
        near.groupby(["flow", "role"], sort=True, observed=True).head(most).sort_values("utc_ns")
    )
    return _said(run, packets, chosen)


def worst(path: Path, count: int) -> str:
    """Say what happened in the `count` worst incidents: the packets with the longest delay, each
    the longest of its flow, role and surroundings in time. Raises RefusedError."""
    run = open_run(path)
    packets = _packets(run)
    taken: list[Any] = []
    for _, packet in packets.sort_values("delay_ns", ascending=False, kind="stable").iterrows():
        same = [
            one for one in taken
            if (one.flow, one.role) == (packet.flow, packet.role)
            and _overlap(one, packet)
        ]  # fmt: skip
        if not same:
            taken.append(packet)
        if len(taken) == count:
            break
    return _said(run, packets, pd.DataFrame(taken))


def _overlap(one: Any, other: Any) -> bool:
    """Whether one was sent before the other had arrived, and the reverse."""
    return bool(
        one.utc_ns < other.received_utc_ns + _NEAR_NS
        and other.utc_ns < one.received_utc_ns + _NEAR_NS
    )


def _packets(run: Run) -> pd.DataFrame:
    try:
        return run.table("delays")
    except KeyError:
        raise RefusedError(
            f"{run.path}: delays were not explained. Repeat it with `ccu run --explain`"
        ) from None


def _said(run: Run, packets: pd.DataFrame, chosen: pd.DataFrame) -> str:
    return "\n\n".join("\n".join(_lines(run, packets, packet)) for _, packet in chosen.iterrows())


def _lines(run: Run, packets: pd.DataFrame, packet: Any) -> Iterator[str]:
    flow = next(one for one in run.manifest.flows if one.id == packet.flow)
    what = "data" if packet.role == "data" else "ACK"
    cc = flow.cc_read_back or flow.cc
    # UDP has no numbers.
    numbers = f", seq {packet.seq}, ack {packet.ack}" if packet.seq or packet.ack else ""
    yield (
        f"{packet.t_s:.6f} s: flow {packet.flow} ({cc}), {what} {packet.direction}, "
        f"{packet.ip_bytes} bytes{numbers}: {packet.delay_ns / 1e6:.6f} ms one way"
    )
    if packet.sent_frame:
        yield f"  frame {packet.sent_frame} at the sender, {packet.received_frame} at the receiver"
    for name in _in_order(packets):
        time_ns = int(packet[name])
        if abs(time_ns) < _LEAST_NS:
            continue
        part = name.removeprefix("delay_").removesuffix("_ns")
        share = time_ns / packet.delay_ns
        text = f"{time_ns / 1e6:12.6f} ms  {share:4.0%}  {SENTENCES.get(part, part)}"
        if part == "queue":
            text += _before(packets, packet)
        yield from textwrap.wrap(text, 100, initial_indent="", subsequent_indent=" " * 23,
                                 drop_whitespace=False)  # fmt: skip
    yield f"  mostly: {_mostly(packets, packet)}"


def _in_order(packets: pd.DataFrame) -> list[str]:
    return [name for name in parts_of(packets.columns) if name != "delay_ns"]


def _before(packets: pd.DataFrame, packet: Any) -> str:
    """Return what of the run's flows was before it in its UE's queue: sent earlier, and not yet
    received when it reached the queue."""
    reached = packet.utc_ns + packet.delay_sender_ns
    sent = packets["utc_ns"] + packets["delay_ns"] - packets["delay_receiver_ns"]
    if packet.direction == "dl":
        reached += _between_hosts_ns(packet)
    else:
        sent -= _between_hosts_ns(packets)
    same = (packets["ue"] == packet.ue) & (packets["direction"] == packet.direction)
    # Of a burst that was sent at one instant, only those that left the link earlier are before it.
    in_burst = (packets["utc_ns"] == packet.utc_ns) & (packets.index < packet.name)
    earlier = (packets["utc_ns"] < packet.utc_ns) | in_burst
    ahead = packets[same & earlier & (sent > reached)]
    return f": {len(ahead)} packets, {int(ahead['ip_bytes'].sum())} bytes of the run's flows"


def _between_hosts_ns(packets: Any) -> Any:
    """Return the time on the path, which is before the radio in downlink and behind it in uplink; a
    real radio has no line there."""
    return packets.get("delay_line_ns", 0) + packets["delay_path_ns"]


def _mostly(packets: pd.DataFrame, packet: Any) -> str:
    """Return the largest part beside the path's constant delay."""
    parts = [name for name in _in_order(packets) if name != "delay_path_ns"]
    values = np.array([int(packet[name]) for name in parts])
    if not values.max(initial=0):
        return SENTENCES["path"]
    part = parts[int(values.argmax())].removeprefix("delay_").removesuffix("_ns")
    return SENTENCES.get(part, part)
