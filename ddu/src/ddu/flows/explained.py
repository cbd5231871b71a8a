# SPDX-License-Identifier: Apache-2.0
"""Each packet's one-way delay by cause: the link's account, joined with the hosts' captures.

The delay is what the captures show, reception minus sending. The link accounts for the time from a
packet's entry to its leaving. What is before and after is the hosts': `sender` and `receiver`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from ddu.flows.observe import ObservedFlow
from ddu.readers.delays import parts_of
from ddu.readers.packets.segments import Acks, Segments
from ddu.schema.arrays import Int

DATA, ACK = "data", "ack"
_NEAR_NS = 20_000_000
"""The longest time between a packet at a host and in the link, in real time. The link's clock reads
arrivals up to 0.1 ms early, as docs/nr-link.md says."""
_EARLY_NS = 200_000
_KEPT = ["ue", "ip_bytes", "seq", "ack", "sent_frame", "received_frame"]


def explained_packets(rows: pd.DataFrame, flows: Sequence[ObservedFlow]) -> pd.DataFrame:
    """Return a row for each packet of the flows, data and ACKs, that both hosts captured.

    `rows`: those of `read_delays`. Columns: `utc_ns` and `received_utc_ns`, when the hosts captured
    it; `flow`, `role`, `direction`, `ue`; its header's `ip_bytes`, `seq`, `ack`; its numbers in the
    captures, 0 if they are not known; `delay_ns`, and the parts that add up to it.
    """
    own = [_of_flow(rows, flow, role) for flow in flows for role in (DATA, ACK)]
    packets = pd.concat(own, ignore_index=True)
    return packets.sort_values("utc_ns", kind="stable", ignore_index=True)


def _of_flow(rows: pd.DataFrame, flow: ObservedFlow, role: str) -> pd.DataFrame:
    declared = flow.flow
    sport, dport = declared.sender.port, declared.receiver.port
    if role == ACK:
        sport, dport = dport, sport
    is_uplink = (declared.direction == "ul") == (role == DATA)
    mine = rows[
        (rows["sport"] == sport) & (rows["dport"] == dport) & (rows["ue"] == declared.ue)
        & (rows["direction"] == is_uplink)
    ]  # fmt: skip
    if len(mine) and not mine["sent_utc_ns"].iloc[0]:
        mine = _in_captures(mine, flow, role)
    parts = parts_of(rows)
    sent, received = mine["sent_utc_ns"].to_numpy(), mine["received_utc_ns"].to_numpy()
    columns = {
        "utc_ns": sent,
        "received_utc_ns": received,
        "flow": declared.id,
        "role": role,
        "direction": "ul" if is_uplink else "dl",
        **{name: mine[name].to_numpy() for name in _KEPT},
        "delay_ns": received - sent,
        "delay_sender_ns": mine["entered_utc_ns"].to_numpy() - sent,
        **{name: mine[name].to_numpy().astype(np.int64) for name in parts},
        "delay_receiver_ns": received - mine["left_utc_ns"].to_numpy(),
    }
    return pd.DataFrame(columns)


def _in_captures(rows: pd.DataFrame, flow: ObservedFlow, role: str) -> pd.DataFrame:
    """Return the rows of a link that knows no captures, with the times of the captures' packets.

    A segment is known by its sequence number, an ACK by the number that it acknowledges; of several
    the nearest in time counts, sent before the link had it and received after.
    """
    if role == DATA:
        sent, received, key = _segments(flow.sent), _segments(flow.received), "seq"
    else:
        sent, received, key = _acks(flow.receiver_acks), _acks(flow.acks), "ack"
    if not len(sent) or not len(received):
        return rows.iloc[:0]
    rows = rows.assign(number=(rows[key].to_numpy().astype(np.int64) - _origin(rows, sent, key)))
    rows = _nearest(rows, sent, "entered_utc_ns", "sent_utc_ns", "backward")
    rows = _nearest(rows, received, "left_utc_ns", "received_utc_ns", "forward")
    return rows[(rows["sent_utc_ns"] > 0) & (rows["received_utc_ns"] > 0)]


def _origin(rows: pd.DataFrame, captured: pd.DataFrame, key: str) -> int:
    """Return what the link's numbers are ahead of the capture's, modulo 2³².

    The most frequent distance between a row and the packet that was sent just before it.
    """
    at = np.searchsorted(captured["utc_ns"], rows["entered_utc_ns"] + _EARLY_NS) - 1
    known = at >= 0
    ahead = rows[key].to_numpy().astype(np.int64)[known] - captured["number"].to_numpy()[at[known]]
    values, counts = np.unique(ahead % 2**32, return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else 0


def _nearest(
    rows: pd.DataFrame,
    captured: pd.DataFrame,
    by: str,
    into: str,
    direction: Literal["backward", "forward"],
) -> pd.DataFrame:
    shift = _EARLY_NS if direction == "backward" else -_EARLY_NS
    left = pd.DataFrame({"at": rows[by].to_numpy() + shift, "number": rows["number"] % 2**32})
    left = left.assign(row=np.arange(len(rows))).sort_values("at", kind="stable")
    right = captured.assign(number=captured["number"] % 2**32)
    joined = pd.merge_asof(
        left, right.rename(columns={"utc_ns": "capture_ns"}).assign(at=right["utc_ns"]), on="at",
        by="number", direction=direction, tolerance=_NEAR_NS,
    )  # fmt: skip
    captured_ns = np.zeros(len(rows), dtype=np.int64)
    captured_ns[joined["row"].to_numpy()] = (
        joined["capture_ns"].fillna(0).to_numpy().astype(np.int64)
    )
    return rows.assign(**{into: captured_ns})


def _segments(captured: Segments) -> pd.DataFrame:
    """Return the segments of a capture one by one, as they are on the link."""
    count = captured.segment_count.astype(np.int64)
    first = np.repeat(np.cumsum(count) - count, count)
    nth = np.arange(int(count.sum())) - first
    each = -(-captured.payload_bytes.astype(np.int64) // np.maximum(count, 1))
    return _sorted(np.repeat(captured.utc_ns, count), np.repeat(captured.seq, count)
                   + nth * np.repeat(each, count))  # fmt: skip


def _acks(captured: Acks) -> pd.DataFrame:
    return _sorted(captured.utc_ns, captured.ack)


def _sorted(utc_ns: Int, number: Int) -> pd.DataFrame:
    table = pd.DataFrame({"utc_ns": utc_ns, "number": number})
    return table.sort_values("utc_ns", kind="stable", ignore_index=True)
