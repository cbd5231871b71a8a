# SPDX-License-Identifier: Apache-2.0
"""Independent accounts of the same bytes, compared; and what the verdict makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ddu.readers.iperf3 import received_bytes
from ddu.run.load import Recording
from ddu.transport.observe import ObservedFlow

MAC_TOLERANCE = 0.02
"""MAC bytes against the receiver's capture; what lies between is path loss and the run's edges."""
IPERF3_TOLERANCE = 0.005
CROSSING_SHARE = 0.5
"""Below this share of the received bytes in the MAC's account, traffic took another way."""
_RANK = {"valid": 0, "degraded": 1, "invalid": 2}


def cross_checks(run: Recording, flows: Sequence[ObservedFlow], aligned: pd.DataFrame,
                 width_s: float) -> dict[str, Any]:
    """Bytes by different witnesses; null where a witness is missing.

    The MAC's count is of the first flow's direction, from the link's start to its end, and so is
    the capture's: control connections and handshakes included.
    """
    first = flows[0].flow
    counter = f"mac_{first.direction}_sdu_bytes"
    mac = None if run.mac is None or counter not in run.mac else _last(run.mac, counter)
    receiver = run.captures[first.receiver.host].total_ip_bytes(first.receiver.address)
    said = [received_bytes(run.raw, flow.flow.id) for flow in flows]
    iperf3 = sum(count for count in said if count is not None) if None not in said else None
    integral = float(aligned["tcp_throughput_bps"].sum() * width_s / 8)
    return {
        "mac_sdu_bytes": mac,
        "receiver_ip_bytes": receiver,
        "mac_to_receiver_ratio": mac / receiver if mac is not None and receiver else None,
        "iperf3_receiver_bytes": iperf3,
        "aligned_payload_bytes": round(integral),
        "aligned_to_iperf3_ratio": integral / iperf3 if iperf3 else None,
    }


def verdict(run: Recording, checks: dict[str, Any]) -> tuple[str, list[str]]:
    """The worst of what the manifest, the link and ddu found, with every reason."""
    found = [(run.manifest.verdict or "valid", run.manifest.verdict_reasons)]
    link = run.link_summary.get("verdict")
    if link in _RANK:
        found.append((link, run.link_summary.get("verdict_reasons") or []))
    found.append(("degraded" if run.faults else "valid", run.faults))
    found += [(grade, [reason]) for grade, reason in _of_captures(run) + _of_checks(checks)]
    worst = max((grade for grade, _ in found), key=_RANK.__getitem__)
    reasons = [str(reason) for _, some in found for reason in some]
    return worst, list(dict.fromkeys(reasons))


def _of_captures(run: Recording) -> list[tuple[str, str]]:
    return [
        (
            "degraded",
            f"The capture {capture.file} dropped {capture.packets_dropped_count} packets: losses "
            "and rates from it are too low or too high.",
        )
        for capture in run.manifest.captures
        if capture.packets_dropped_count
    ]


def _of_checks(checks: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    crossing = checks["mac_to_receiver_ratio"]
    if crossing is not None and crossing < CROSSING_SHARE:
        found.append(
            ("invalid", f"Only {crossing:.1%} of the received bytes crossed the link's MAC.")
        )
    elif crossing is not None and abs(crossing - 1) > MAC_TOLERANCE:
        found.append(
            ("degraded", f"The MAC's bytes are {crossing:.4f} of the receiver capture's bytes.")
        )
    return found


def _last(mac: pd.DataFrame, counter: str) -> int | None:
    values = mac[counter].dropna()
    return int(values.iloc[-1]) if len(values) else None
