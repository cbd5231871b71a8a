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
        Headline("RSRP", _number(summary["rsrp_dbm"]["mean"], 1, 1), "dBm",
                 f"mean; {_spread(summary['rsrp_dbm'], 1)}"),
        Headline("SINR", _number(summary["sinr_db"]["mean"], 1, 1), "dB",
                 ("uplink at the gNB" if way == "ul" else "downlink at the UE")
                 + f", mean; {_spread(summary['sinr_db'], 1)}"),
        Headline("MCS", _number(summary["mcs"]["mean"], 1, 1), "index",
                 f"of first transmissions, mean; {_spread(summary['mcs'], 1)}"),
        Headline("BLER", _number(summary["bler_ratio"]["mean"], 100, 1), "%",
                 f"first transmissions that failed, mean; {_spread(summary['bler_ratio'], 100)}"),
    ]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A figure of each flow: label, unit, values in the order of the flows, definition."""

    label: str
    unit: str
    values: list[str]
    definition: str


_FLOW = (
    ("throughput_bps", "Throughput", "Mbit/s", 1e-6, 1, "payload received, over the flow's time"),
    ("goodput_bps", "Goodput", "Mbit/s", 1e-6, 1, "new payload, in order, at the receiver"),
    ("rtt_ms.mean", "RTT, mean", "ms", 1, 1, "by TCP timestamps at the sender"),
    ("rtt_ms.p95", "RTT, p95", "ms", 1, 1, "95 % of the samples are below"),
    ("owd_ms.mean", "One-way delay, mean", "ms", 1, 1, "from both captures"),
    ("owd_ms.p95", "One-way delay, p95", "ms", 1, 1, "95 % of the samples are below"),
    ("self_inflicted_delay_ms", "Self-inflicted delay", "ms", 1, 1,
     "95th percentile minus least one-way delay"),
    ("within_20ms_ratio", "Within 20 ms", "%", 100, 1, "packets that arrive in time, of all sent"),
    ("within_40ms_ratio", "Within 40 ms", "%", 100, 1, "packets that arrive in time, of all sent"),
    ("within_100ms_ratio", "Within 100 ms", "%", 100, 1,
     "packets that arrive in time, of all sent"),
    ("retransmissions_count", "Retransmissions", "segments", 1, 0, "sent again"),
    ("lost_in_link_count", "Lost in the link", "segments", 1, 0,
     "in the sender's capture and not in the receiver's"),
    ("convergence_time_s", "Convergence time", "s", 1, 1,
     "until the mean window is first near its mean"),
    ("stability_bytes", "Stability", "kB", 1e-3, 0, "spread of the mean window after it converged"),
    ("d3_ratio", "Delay over desired delay", "1", 1, 2, "mean RTT over the delay target"),
    ("packets_per_ack_block", "Packets per ACK block", "segments", 1, 1,
     "acknowledged between two sendings"),
    ("on_wire_to_goodput_ratio", "Transmission cost", "1", 1, 3,
     "IP bytes that both ends sent, over goodput bytes"),
)  # fmt: skip


def flow_rows(flows: list[dict[str, Any]]) -> list[Row]:
    """The figures that some flow has, in the order in which they are read."""
    rows = []
    for key, label, unit, scale, digits, definition in _FLOW:
        values = [_inside(flow, key) for flow in flows]
        if any(value is not None for value in values):
            shown = [_number(value, scale, digits) for value in values]
            rows.append(Row(label, unit, shown, definition))
    return rows


_ACCOUNTS = {
    "mac_sdu_bytes": ("by the MAC", "B", "delivered in the first flow's direction"),
    "receiver_ip_bytes": ("by the receiver's capture", "B", "IP bytes to the receiver"),
    "mac_to_receiver_ratio": ("MAC over capture", "1", "1: every byte crossed the MAC"),
    "iperf3_receiver_bytes": ("by iperf3's receiver", "B", "payload that it read"),
    "aligned_payload_bytes": ("by the aligned table", "B", "integral of the throughput"),
    "readable_until_iperf3_stopped_bytes": (
        "by the capture, until iperf3 stopped", "B", "payload that could be read in order"),
    "readable_to_iperf3_ratio": ("capture over iperf3", "1", "1: both counted the same"),
}  # fmt: skip


def accounts(checks: dict[str, Any]) -> list[Row]:
    """The accounts of the same bytes."""
    rows = []
    for key, value in checks.items():
        label, unit, definition = _ACCOUNTS.get(key, (key.replace("_", " "), "", ""))
        shown = [_number(value, 1, 4 if unit == "1" else 0)]
        rows.append(Row(label, unit, shown, definition))
    return rows


def _inside(content: dict[str, Any], key: str) -> float | None:
    found: Any = content
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, (int, float)) else None


def _number(value: float | None, scale: float, digits: int) -> str:
    return "n/a" if value is None else f"{value * scale:,.{digits}f}".replace(",", "\u202f")


def _spread(values: dict[str, float | None], scale: float) -> str:
    if values["p5"] is None:
        return "not measured"
    low, high = (_number(values[key], scale, 1) for key in ("p5", "p95"))
    return f"90 % between {low} and {high}"
