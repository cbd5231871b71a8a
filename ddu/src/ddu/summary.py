# SPDX-License-Identifier: Apache-2.0
"""The headline figures of a run: summary.json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddu.checks import cross_checks, verdict
from ddu.run.load import Recording, path_rtt_ms
from ddu.tables.bins import Bins, Float
from ddu.transport.fairness import jain
from ddu.transport.observe import ObservedFlow

SCHEMA_VERSION = 1
"""Of summary.json and of the tables."""


def summarise(
    run: Recording,
    flows: Sequence[ObservedFlow],
    aligned: pd.DataFrame,
    mac: pd.DataFrame | None,
    bins: Bins,
) -> dict[str, Any]:
    """Every key of docs/metrics.md; null where it was not measured."""
    experiment = run.manifest.experiment
    duration_s = _duration_s(flows)
    checks = cross_checks(run, flows, aligned, bins.width_s)
    grade, reasons = verdict(run, checks)
    rtt = np.concatenate([flow.rtt.value_ms for flow in flows])
    floor = run.link_summary.get("mac_floor_ms")
    return {
        "schema_version": SCHEMA_VERSION,
        "run": run.manifest.run,
        "verdict": grade,
        "verdict_reasons": reasons,
        "cc": experiment.cc or ",".join(dict.fromkeys(flow.flow.cc for flow in flows)),
        "direction": experiment.direction,
        "prb": experiment.prb,
        "scenario": experiment.scenario,
        "duration_s": duration_s,
        "bin_ms": bins.width_ns / 1e6,
        "throughput_bps": sum(_throughput_bps(flow, duration_s) for flow in flows),
        "goodput_bps": sum(float(flow.delivered[1].sum()) for flow in flows) * 8 / duration_s,
        "rtt_ms": _distribution(rtt, p50=50, p95=95, p99=99),
        "rtt_floor_ms": float(rtt.min()) if len(rtt) else None,
        "path_rtt_ms": path_rtt_ms(run),
        "mac_floor_ms": floor,
        "retransmissions_count": _count(flows, lambda flow: flow.retransmissions.count),
        "lost_before_link_count": _count(flows, lambda flow: flow.lost_before_link.count),
        "lost_in_link_count": _count(flows, lambda flow: flow.lost_in_link.count),
        **_jain_overall(flows),
        **_radio(flows, mac),
        "flows": [_flow(flow) for flow in flows],
        "cross_checks": checks,
        "alignment": run.alignment,
        "software": run.manifest.software,
    }


def _duration_s(flows: Sequence[ObservedFlow]) -> float:
    """From the first payload packet sent to the last one received."""
    first = min(int(flow.sent.utc_ns[0]) for flow in flows)
    last = max(int(np.append(flow.received.utc_ns, flow.sent.utc_ns[-1]).max()) for flow in flows)
    return max(last - first, 1) / 1e9


def _throughput_bps(flow: ObservedFlow, duration_s: float) -> float:
    return float(flow.received.payload_bytes.sum()) * 8 / duration_s


def _count(flows: Sequence[ObservedFlow], of: Callable[[ObservedFlow], Float]) -> int | None:
    tcp = [flow for flow in flows if flow.is_tcp]
    return sum(int(of(flow).sum()) for flow in tcp) if tcp else None


def _distribution(values: Float, **percents: float) -> dict[str, float | None]:
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(["mean", *percents])
    found: dict[str, float | None] = {"mean": float(values.mean())}
    return found | {name: float(np.percentile(values, p)) for name, p in percents.items()}


def _jain_overall(flows: Sequence[ObservedFlow]) -> dict[str, float | None]:
    """Of the flows' mean rates over the time in which all of them were sending."""
    begin = max(int(flow.sent.utc_ns[0]) for flow in flows)
    end = min(int(flow.sent.utc_ns[-1]) for flow in flows)

    def index(sizes: list[tuple[Any, Any]]) -> float | None:
        within = [float(size[(at >= begin) & (at < end)].sum()) for at, size in sizes]
        value = float(jain(np.array(within)[:, None])[0])
        return None if np.isnan(value) else value

    return {
        "jain_throughput": index([(f.received.utc_ns, f.received.payload_bytes) for f in flows]),
        "jain_sending_rate": index([(f.sent.utc_ns, f.sent.ip_bytes) for f in flows]),
    }


def _radio(flows: Sequence[ObservedFlow], mac: pd.DataFrame | None) -> dict[str, Any]:
    """Of the traffic time and of the direction of the first flow."""
    way = flows[0].flow.direction
    start = int(min(flow.sent.utc_ns[0] for flow in flows))
    during = None
    if mac is not None:
        end = start + int(_duration_s(flows) * 1e9)
        during = mac[(mac["utc_ns"] + mac["duration_ns"] > start) & (mac["utc_ns"] < end)]
    gauges = {
        "rsrp_dbm": "mac_rsrp_dbm",
        "sinr_db": "mac_sinr_db" if way == "dl" else "mac_ul_snr_db",
        "mcs": f"mac_{way}_mcs",
        "bler_ratio": f"mac_{way}_bler_ratio",
    }
    radio: dict[str, Any] = {
        key: _distribution(_values(during, name), p5=5, p95=95) for key, name in gauges.items()
    }
    radio["utilisation_ratio"] = _utilisation(during, way)
    return radio


def _utilisation(during: pd.DataFrame | None, way: str) -> float | None:
    delivered = np.nansum(_values(during, f"mac_{way}_sdu_bytes"))
    capacity = np.nansum(_values(during, f"mac_{way}_capacity_sdu_bytes"))
    return float(delivered / capacity) if capacity else None


def _values(table: pd.DataFrame | None, name: str) -> Float:
    if table is None or name not in table:
        return np.zeros(0)
    values: Float = table[name].to_numpy(dtype="float64", na_value=np.nan)
    return values


def _flow(flow: ObservedFlow) -> dict[str, Any]:
    duration_s = _duration_s([flow])
    count = flow.retransmissions.count.sum()
    return {
        "id": flow.flow.id,
        "cc": flow.flow.cc_read_back or flow.flow.cc,
        "direction": flow.flow.direction,
        "start_s": flow.flow.start_s,
        "duration_s": duration_s,
        "received_payload_bytes": int(flow.received.payload_bytes.sum()),
        "throughput_bps": _throughput_bps(flow, duration_s),
        "goodput_bps": float(flow.delivered[1].sum()) * 8 / duration_s,
        "rtt_ms": _distribution(flow.rtt.value_ms, p50=50, p95=95, p99=99),
        "owd_ms": _distribution(flow.one_way_delay.value_ms, p50=50, p95=95, p99=99)
        if flow.is_tcp
        else None,
        "retransmissions_count": int(count) if flow.is_tcp else None,
        "lost_in_link_count": int(flow.lost_in_link.count.sum()) if flow.is_tcp else None,
    }
