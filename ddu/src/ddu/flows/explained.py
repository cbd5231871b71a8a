# SPDX-License-Identifier: Apache-2.0
"""Each packet's one-way delay by cause: the link's account, joined with the hosts' captures.

The delay is what the captures show, reception minus sending. The link accounts for the time from a
packet's entry to its leaving. What is before and after is the hosts': `sender` and `receiver`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.flows.loss import largest_segment
from ddu.flows.observe import ObservedFlow
from ddu.readers.delays import parts_of
from ddu.readers.packets.segments import Acks, Segments
from ddu.schema.arrays import Columns, Int

DATA, ACK = "data", "ack"
_ROLES = (DATA, ACK)
_DIRECTIONS = ("dl", "ul")
_NEAR_NS = 20_000_000
"""The longest time between a packet at a host and in the link, in real time. The link's clock reads
arrivals up to 0.1 ms early, as docs/nr-link.md says."""
_EARLY_NS = 200_000
_KEPT = ("ue", "ip_bytes", "seq", "ack", "sent_frame", "received_frame")


@dataclass(frozen=True)
class _Chosen:
    """Rows of the link's account by their numbers, and when the hosts captured each."""

    row: Int
    sent_utc_ns: Int
    received_utc_ns: Int


def explained_packets(link: Columns, flows: Sequence[ObservedFlow]) -> pd.DataFrame:
    """Return a row for each packet of the flows, data and ACKs, that both hosts captured.

    `link`: the columns of `read_delays`. Those of the table: `utc_ns` and `received_utc_ns`, when
    the hosts captured it; `flow`, `role`, `direction`, `ue`; its header's `ip_bytes`, `seq`, `ack`;
    its numbers in the captures, 0 if they are not known; `delay_ns`, and the parts that add up to
    it.
    """
    wanted = [(flow, role) for flow in range(len(flows)) for role in range(len(_ROLES))]
    chosen = [_of_flow(link, flows[flow], _ROLES[role]) for flow, role in wanted]
    sent = np.concatenate([one.sent_utc_ns for one in chosen])
    order = np.argsort(sent, kind="stable")
    sent = sent[order]
    received = np.concatenate([one.received_utc_ns for one in chosen])[order]
    row = np.concatenate([one.row for one in chosen])[order]
    sizes = [len(one.row) for one in chosen]
    of_flow = np.repeat([flow for flow, _ in wanted], sizes)[order]
    of_role = np.repeat([role for _, role in wanted], sizes)[order]
    nothing = np.zeros(len(row), dtype=np.int64)
    columns = {
        "utc_ns": sent,
        "received_utc_ns": received,
        "flow": _words(of_flow, [flow.flow.id for flow in flows]),
        "role": _words(of_role, _ROLES),
        "direction": _words(link["direction"][row].astype(np.int8), _DIRECTIONS),
        **{name: link[name][row] for name in _KEPT},
        "delay_ns": received - sent,
        "delay_sender_ns": link["entered_utc_ns"][row] - sent,
        **{name: _taken(link[name], row, nothing) for name in parts_of(link)},
        "delay_receiver_ns": received - link["left_utc_ns"][row],
    }
    return pd.DataFrame(columns, copy=False)


def _taken(part: npt.NDArray[np.uint64], row: Int, nothing: Int) -> Int:
    """Return a part of these rows: `nothing` of the many that no packet of the run has."""
    return part[row].view(np.int64) if part.any() else nothing


def _words(codes: Any, words: Sequence[str]) -> pd.Categorical:
    """Return a column of a few words, each by its number in `words`."""
    return pd.Categorical.from_codes(codes, pd.Index(words))


def _of_flow(link: Columns, flow: ObservedFlow, role: str) -> _Chosen:
    declared = flow.flow
    sport, dport = declared.sender.port, declared.receiver.port
    if role == ACK:
        sport, dport = dport, sport
    is_uplink = (declared.direction == "ul") == (role == DATA)
    row = np.flatnonzero(
        (link["sport"] == sport) & (link["dport"] == dport) & (link["ue"] == declared.ue)
        & (link["direction"] == is_uplink)
    )  # fmt: skip
    if len(row) and not link["sent_utc_ns"][row[0]]:
        return _in_captures(link, row, flow, role)
    return _Chosen(row, link["sent_utc_ns"][row], link["received_utc_ns"][row])


def _in_captures(link: Columns, row: Int, flow: ObservedFlow, role: str) -> _Chosen:
    """Return the rows of a link that knows no captures, with the times of the captures' packets.

    A segment is known by its sequence number, an ACK by the number that it acknowledges; of several
    the nearest in time counts, sent before the link had it and received after.
    """
    if role == DATA:
        sent, received, key = _segments(flow.sent), _segments(flow.received), "seq"
    else:
        sent, received, key = _acks(flow.receiver_acks), _acks(flow.acks), "ack"
    if not len(sent) or not len(received):
        return _Chosen(row[:0], row[:0], row[:0])
    entered, left = link["entered_utc_ns"][row], link["left_utc_ns"][row]
    number = link[key][row].astype(np.int64)
    number -= flow.origin
    sent_ns = _nearest(number, entered, sent, "backward")
    received_ns = _nearest(number, left, received, "forward")
    known = (sent_ns > 0) & (received_ns > 0)
    return _Chosen(row[known], sent_ns[known], received_ns[known])


def _nearest(
    number: Int, utc_ns: Int, captured: pd.DataFrame, direction: Literal["backward", "forward"]
) -> Int:
    """Return when the nearest packet of each number was captured, 0 where there is none."""
    shift = _EARLY_NS if direction == "backward" else -_EARLY_NS
    left = pd.DataFrame({"at": utc_ns + shift, "number": number % 2**32})
    left = left.assign(row=np.arange(len(number))).sort_values("at", kind="stable")
    right = captured.assign(number=captured["number"] % 2**32, place=np.arange(len(captured)))
    joined = pd.merge_asof(
        left, right.rename(columns={"utc_ns": "at"}), on="at", by="number", direction=direction,
        tolerance=_NEAR_NS,
    )  # fmt: skip
    joined = joined[joined["place"].notna()]
    # Instants never pass through float64, which would round them.
    captured_ns = np.zeros(len(number), dtype=np.int64)
    captured_ns[joined["row"]] = captured["utc_ns"].to_numpy()[joined["place"].astype("int64")]
    return captured_ns


def _segments(captured: Segments) -> pd.DataFrame:
    """Return the segments of a capture one by one, as they are on the link."""
    count = captured.segment_count.astype(np.int64)
    first = np.repeat(np.cumsum(count) - count, count)
    nth = np.arange(int(count.sum())) - first
    each = int(largest_segment(captured))
    seq = np.repeat(captured.seq, count) + nth * each
    return _sorted(np.repeat(captured.utc_ns, count), seq)


def _acks(captured: Acks) -> pd.DataFrame:
    return _sorted(captured.utc_ns, captured.ack)


def _sorted(utc_ns: Int, number: Int) -> pd.DataFrame:
    table = pd.DataFrame({"utc_ns": utc_ns, "number": number})
    return table.sort_values("utc_ns", kind="stable", ignore_index=True)
