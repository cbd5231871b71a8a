# SPDX-License-Identifier: Apache-2.0
"""What the stacked figure shows, panel by panel (after Hercules, figure 5)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Panel:
    """A column of the aligned table: `{way}` is the direction of the run's first flow."""

    title: str
    unit: str
    column: str
    scale: float = 1.0
    per_flow: bool = True
    total: bool = False
    """Also the sum over flows."""
    as_dots: bool = False
    definition: str = ""


PANELS = (
    Panel("Throughput", "Mbit/s", "tcp_throughput_bps", 1e-6, total=True,
          definition="payload bits that reach the receiver, per second"),
    Panel("Sending rate", "Mbit/s", "tcp_sending_rate_bps", 1e-6, total=True,
          definition="bits sent, headers included, per second"),
    Panel("Jain's index of throughput", "", "jain_throughput", per_flow=False,
          definition="1: all active flows alike; 1/n: one has all"),
    Panel("RTT", "ms", "tcp_rtt_ms",
          definition="by TCP timestamps, mean of the bin"),
    Panel("In flight", "kB", "tcp_inflight_bytes", 1e-3,
          definition="highest byte sent minus highest acknowledged, at the bin's end"),
    Panel("Congestion window", "kB", "tcp_cwnd_bytes", 1e-3,
          definition="snd_cwnd · MSS, as the kernel reports it"),
    Panel("Retransmissions", "segments", "tcp_retransmissions_count", as_dots=True,
          definition="segments sent again, per bin"),
    Panel("RSRP", "dBm", "mac_rsrp_dbm", per_flow=False,
          definition="reference signal received power"),
    Panel("Technology", "3 SA, 2 NSA, 1 LTE", "mac_technology", per_flow=False,
          definition="of the phone: 3 NR alone, 2 LTE with NR, 1 LTE, 0 none"),
    Panel("Cell", "PCI", "mac_pci", per_flow=False,
          definition="physical cell identity: it changes with a handover"),
    Panel("MCS", "index", "mac_{way}_mcs", per_flow=False,
          definition="modulation and coding scheme of first transmissions"),
    Panel("BLER", "%", "mac_{way}_bler_ratio", 100, per_flow=False,
          definition="first transmissions that failed"),
    Panel("RLC queue", "kB", "mac_{way}_rlc_queue_bytes", 1e-3, per_flow=False,
          definition="bytes waiting in the link's RLC buffer"),
)  # fmt: skip


def shown(aligned: pd.DataFrame, way: str) -> list[tuple[Panel, str]]:
    """The panels that this table has something for, with the column's name."""
    named = [(panel, panel.column.format(way=way)) for panel in PANELS]
    return [
        (panel, name) for panel, name in named if name in aligned and aligned[name].notna().any()
    ]
