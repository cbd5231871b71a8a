# SPDX-License-Identifier: Apache-2.0
"""Cross-checks of the bytes that independent sources count, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.readers import iperf3, nr_link_flows
from ddu.run.manifest import Flow

MAC_TOLERANCE = 0.02
"""MAC bytes against the receiver's capture; what lies between is path loss and the run's edges."""
IPERF3_TOLERANCE = 0.005
CROSSING_SHARE = 0.5
"""Below this share of the received bytes in the MAC's account, traffic took another path."""
_RANK = {"valid": 0, "degraded": 1, "invalid": 2}


def cross_checks(
    run: AlignedRun, flows: Sequence[ObservedFlow], aligned: pd.DataFrame, width_s: float
) -> dict[str, Any]:
    """Compare the bytes by different sources; null where a source is missing.

    The MAC's count is of the first flow's direction, from the link's start to its end, and so is
    the capture's: control connections and handshakes included.
    """
    first = flows[0].flow
    counter = f"mac_{first.direction}_sdu_bytes"
    mac = None if run.mac is None or counter not in run.mac else _delivered(run.mac, first)
    capture = run.captures.get(first.receiver.host)
    receiver = None if capture is None else capture.total_ip_bytes(first.receiver.address)
    counted, captured = _by_receivers(run, flows)
    counted_ratio = captured / counted if captured is not None and counted else None
    integral = float(aligned["tcp_throughput_bps"].sum(min_count=1) * width_s / 8)
    return {
        "mac_sdu_bytes": mac,
        "receiver_ip_bytes": receiver,
        "mac_to_receiver_ratio": mac / receiver if mac is not None and receiver else None,
        "iperf3_receiver_bytes": counted,
        "aligned_payload_bytes": None if np.isnan(integral) else round(integral),
        "readable_until_iperf3_stopped_bytes": captured,
        "readable_to_iperf3_ratio": counted_ratio,
    }


def _by_receivers(run: AlignedRun, flows: Sequence[ObservedFlow]) -> tuple[int | None, int | None]:
    """Return the payload that the receivers of iperf3, or of the built-in traffic, counted, and
    the capture's until they ended.

    What is still queued when the test ends arrives later, and what lies behind a hole cannot be
    read: both are in the tables, but not in the receivers' sum.
    """
    counted_bytes, captured = 0, 0
    ended = True
    for flow in flows:
        count = nr_link_flows.received_bytes(run.raw, flow.flow.id)
        count = count or iperf3.received_bytes(run.raw, flow.flow.id)
        stop = _stopped_counting_utc_ns(run, flow)
        if count is None:
            return None, None
        counted_bytes += count
        ended = ended and stop is not None and flow.at_receiver
        instants, sizes = flow.delivered
        captured += int(sizes[instants <= (stop if stop is not None else 0)].sum())
    return counted_bytes, captured if ended else None


def _stopped_counting_utc_ns(run: AlignedRun, flow: ObservedFlow) -> int | None:
    """When the receiver read iperf3's TEST_END: the sender's first message of one byte, a state,
    on the control connection; without one the manifest has the time."""
    if flow.flow.received_until_utc_ns is not None:
        return flow.flow.received_until_utc_ns
    sender, receiver = flow.flow.sender, flow.flow.receiver
    capture = run.captures.get(receiver.host)
    if capture is None:
        return None
    rows = capture.connections
    control = rows[
        (rows["src"] == sender.address)
        & (rows["dst"] == receiver.address)
        & (rows["dport"] == (flow.flow.control_port or receiver.port))
        & (rows["sport"] != sender.port)
        & (rows["proto"] == 6)
    ]
    for connection in control.index:
        packets = capture.direction(int(connection), 0, 0).payload
        states = packets.utc_ns[packets.payload_bytes == 1]
        if len(states):
            return int(states[0])
    return None


def verdict(run: AlignedRun, checks: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the worst verdict of the manifest, the link and ddu, with every reason."""
    verdicts: list[tuple[str, Sequence[str]]] = [
        (run.manifest.verdict or "valid", run.manifest.verdict_reasons)
    ]
    link = run.link_summary.get("verdict")
    if link in _RANK:
        verdicts.append((link, run.link_summary.get("verdict_reasons") or []))
    verdicts.append(("degraded" if run.faults else "valid", run.faults))
    verdicts += [(grade, [reason]) for grade, reason in _of_captures(run) + _of_checks(run, checks)]
    worst = max((grade for grade, _ in verdicts), key=_RANK.__getitem__)
    reasons = [str(reason) for _, some in verdicts for reason in some]
    return worst, list(dict.fromkeys(reasons))


def _of_captures(run: AlignedRun) -> list[tuple[str, str]]:
    return [
        (
            "degraded",
            f"The capture {capture.file} dropped {capture.packets_dropped_count} packets: losses "
            "and rates from it are too low or too high.",
        )
        for capture in run.manifest.captures
        if capture.packets_dropped_count
    ]


def _of_checks(run: AlignedRun, checks: dict[str, Any]) -> list[tuple[str, str]]:
    problems = []
    crossing = checks["mac_to_receiver_ratio"]
    if crossing is not None and crossing < CROSSING_SHARE:
        problems.append(
            ("invalid", f"Only {crossing:.1%} of the received bytes crossed the link's MAC.")
        )
    elif crossing is not None and abs(crossing - 1) > MAC_TOLERANCE:
        problems.append(
            ("degraded", f"The MAC's bytes are {crossing:.4f} of the receiver capture's bytes.")
        )
    counted = checks["readable_to_iperf3_ratio"]
    receivers = {flow.receiver.host for flow in run.manifest.flows}
    seen = receivers <= run.captures.keys()
    if checks["iperf3_receiver_bytes"] is not None and counted is None and seen:
        problems.append(
            (
                "degraded",
                "The receiver's capture ends before the traffic did: its last packets are missing.",
            )
        )
    if counted is not None and abs(counted - 1) > IPERF3_TOLERANCE:
        problems.append(
            (
                "degraded",
                f"The capture has {counted:.4f} of the payload that the traffic program's "
                "receiver read.",
            )
        )
    return problems


def _delivered(mac: pd.DataFrame, flow: Flow) -> int | None:
    """Return what the MAC delivered to the flow's receiver: a UE, or the server of all UEs."""
    last = mac.groupby("ue")[f"mac_{flow.direction}_sdu_bytes"].last().dropna()
    if flow.direction == "dl" and flow.ue in last.index:
        last = last.loc[[flow.ue]]
    return int(last.sum()) if len(last) else None
