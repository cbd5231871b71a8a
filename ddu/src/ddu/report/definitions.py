# SPDX-License-Identifier: Apache-2.0
"""The headline figures of the report: label, unit, and what each means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Headline:
    label: str
    value: str
    unit: str
    definition: str


def headlines(summary: dict[str, Any]) -> list[Headline]:
    """In the order in which they are read; what was not measured shows a dash."""
    rtt, way = summary["rtt_ms"], summary["direction"]
    mac_floor = summary["mac_floor_ms"] or {}
    return [
        Headline("Throughput", _number(summary["throughput_bps"], 1e-6, 1), "Mbit/s",
                 "payload received by all data flows, over the traffic time"),
        Headline("Goodput", _number(summary["goodput_bps"], 1e-6, 1), "Mbit/s",
                 "new payload, in order, at the receiver"),
        Headline("Utilisation", _number(summary["utilisation_ratio"], 100, 1), "%",
                 "IP bytes that the MAC delivered, of what it could have delivered"),
        Headline("RTT, median", _number(rtt["p50"], 1, 1), "ms",
                 "by TCP timestamps at the sender"),
        Headline("RTT, mean", _number(rtt["mean"], 1, 1), "ms", "of all samples"),
        Headline("RTT, p95 / p99", f"{_number(rtt['p95'], 1, 1)} / {_number(rtt['p99'], 1, 1)}",
                 "ms", "95 % and 99 % of the samples are below"),
        Headline("RTT floor", _number(summary["rtt_floor_ms"], 1, 2), "ms",
                 f"least sample; the path has {_number(summary['path_rtt_ms'], 1, 1)} ms, the MAC "
                 f"adds {_number(mac_floor.get('dl'), 1, 1)} ms down and "
                 f"{_number(mac_floor.get('ul'), 1, 1)} ms up on average"),
        Headline("Retransmissions", _number(summary["retransmissions_count"], 1, 0), "segments",
                 "sent again, in the sender's capture"),
        Headline("Lost in the link", _number(summary["lost_in_link_count"], 1, 0), "segments",
                 "in the sender's capture and not in the receiver's"),
        Headline("Jain's index", _number(summary["jain_throughput"], 1, 3), "",
                 "of throughput while all flows send; 1 is fair, needs two flows"),
        Headline("RSRP", _spread(summary["rsrp_dbm"], 1, 1), "dBm", "mean, p5 to p95"),
        Headline("SINR", _spread(summary["sinr_db"], 1, 1), "dB",
                 "effective, " + ("uplink at the gNB" if way == "ul" else "downlink at the UE")),
        Headline("MCS", _spread(summary["mcs"], 1, 1), "index", "of first transmissions"),
        Headline("BLER", _spread(summary["bler_ratio"], 100, 1), "%",
                 "first transmissions that failed"),
    ]  # fmt: skip


def _number(value: float | None, scale: float, digits: int) -> str:
    return "n/a" if value is None else f"{value * scale:,.{digits}f}".replace(",", "\u202f")


def _spread(values: dict[str, float | None], scale: float, digits: int) -> str:
    mean, low, high = (_number(values[key], scale, digits) for key in ("mean", "p5", "p95"))
    return mean if low == high else f"{mean} ({low} … {high})"
