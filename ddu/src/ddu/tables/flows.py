# SPDX-License-Identifier: Apache-2.0
"""The flows table: every connection of the captures, with its role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.metrics.catalogue import summary_metrics

PROTOCOLS = {6: "tcp", 17: "udp"}


def flows_table(run: AlignedRun, observed: Sequence[ObservedFlow]) -> pd.DataFrame:
    """Return one row per direction of a 5-tuple and capture; data flows carry their metrics.

    `role` is `data` for a flow of the experiment, `ack` for its other direction, `control` for
    other connections to a control port, `other` for the rest.
    """
    metrics = {flow.flow.id: _metrics(flow) for flow in observed}
    by_tuple = {flow.endpoints: flow for flow in run.manifest.flows}
    ports = {(f.receiver.address, f.control_port or f.receiver.port) for f in run.manifest.flows}
    rows = []
    for host, capture in run.captures.items():
        for row in capture.connections.to_dict("records"):
            forth = (row["src"], row["sport"], row["dst"], row["dport"])
            back = (row["dst"], row["dport"], row["src"], row["sport"])
            flow = by_tuple.get(forth) or by_tuple.get(back)
            role = _role(forth in by_tuple, back in by_tuple, bool({forth[:2], back[:2]} & ports))
            rows.append(
                {
                    "flow": flow.id if flow else None,
                    "role": role,
                    "cc": flow.cc if flow else None,
                    "direction": flow.direction if flow else None,
                    "capture_host": host,
                    "protocol": PROTOCOLS.get(row["proto"], str(row["proto"])),
                    **{key: row[key] for key in ("src", "sport", "dst", "dport")},
                    **{key: row[key] for key in ("first_utc_ns", "last_utc_ns")},
                    "captured_packets_count": row["packets_count"],
                    "captured_ip_bytes": row["ip_bytes"],
                    **(metrics.get(flow.id, {}) if flow and role == "data" else {}),
                }
            )
    return pd.DataFrame(rows)


def _role(data: bool, ack: bool, control: bool) -> str:
    return "data" if data else "ack" if ack else "control" if control else "other"


def _metrics(flow: ObservedFlow) -> dict[str, Any]:
    return {
        metric.name: metric.of_table(flow)
        for metric in summary_metrics()
        if metric.of_table and metric.is_known_of(flow)
    }
