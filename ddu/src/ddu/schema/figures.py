# SPDX-License-Identifier: Apache-2.0
"""Names of the numbers in summary.json, which docs/metrics.md defines: known before any run."""

from __future__ import annotations

PER_FLOW = "flow."
"""What the figures of single flows are called: their means over the run's data flows."""

_DELAY = ("mean", "p50", "p95", "p99")
_GAUGE = ("mean", "p5", "p95")
_BOTH = (
    "duration_s", "throughput_bps", "goodput_bps", "retransmissions_count", "lost_in_link_count",
    *(f"rtt_ms.{part}" for part in _DELAY),
)  # fmt: skip
_OF_RUN = (
    *_BOTH,
    *("schema_version", "prb", "bin_ms", "rtt_floor_ms", "path_rtt_ms"),
    *("mac_floor_ms.dl", "mac_floor_ms.ul"),
    *("fast_retransmissions_count", "timeout_retransmissions_count"),
    *("spurious_retransmissions_count", "lost_before_link_count"),
    *("jain_throughput", "jain_sending_rate", "friendliness", "utilisation_ratio"),
    *(f"{gauge}.{part}" for gauge in ("rsrp_dbm", "sinr_db", "mcs", "bler_ratio")
      for part in _GAUGE),
)  # fmt: skip
_OF_FLOW = (
    *_BOTH,
    *("start_s", "received_payload_bytes", "self_inflicted_delay_ms"),
    *(f"owd_ms.{part}" for part in _DELAY),
    *("within_20ms_ratio", "within_40ms_ratio", "within_100ms_ratio"),
    *("on_wire_ip_bytes", "on_wire_to_goodput_ratio"),
    *("retransmissions_per_packet_ratio", "retransmissions_per_loss_ratio"),
    *("dtt_ms", "d3_ratio", "ack_blocks_per_s", "packets_per_ack_block"),
    *("convergence_time_s", "stability_bytes", "convergence_window_s"),
)
FIGURES = frozenset({*_OF_RUN, *(PER_FLOW + name for name in _OF_FLOW)})

_OPEN = ("technology_ratio.", "events_count.", "alignment.")
"""Beginnings of names whose ends are what the run's sources are, or saw."""


def is_open(name: str) -> bool:
    """Whether only a run's own sources tell if there is a number of this name."""
    return name.startswith(_OPEN)
