# SPDX-License-Identifier: Apache-2.0
"""The headline figures of a run: summary.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.align.bins import Bins
from ddu.align.run import AlignedRun
from ddu.checks import cross_checks, verdict
from ddu.metrics.convergence import convergence
from ddu.metrics.cost import transmission_cost
from ddu.metrics.desired_delay import desired_delay
from ddu.metrics.distribution import quantiles, shares_within
from ddu.metrics.fairness import friendliness, jain
from ddu.metrics.observe import ObservedFlow
from ddu.one_sided import arrivals_source, unseen
from ddu.readers.android.cells import TECHNOLOGIES
from ddu.schema.arrays import Float, Int

SCHEMA_VERSION = 1
"""Of summary.json and of the tables."""

PERCENTS = {"p50": 50, "p95": 95, "p99": 99}
"""Of delays."""


def summarise(
    run: AlignedRun,
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
        "not_captured": unseen(run, flows),
        "cc": experiment.cc or ",".join(dict.fromkeys(flow.flow.cc for flow in flows)),
        "direction": experiment.direction,
        "prb": experiment.prb,
        "scenario": experiment.scenario,
        **({"place": experiment.phone.place} if experiment.phone else {}),
        "duration_s": duration_s,
        "bin_ms": bins.width_ns / 1e6,
        "throughput_bps": _sum(_throughput_bps(flow, duration_s) for flow in flows),
        "goodput_bps": _sum(_goodput_bps(flow, duration_s) for flow in flows),
        "rtt_ms": quantiles(rtt, **PERCENTS),
        "rtt_floor_ms": float(rtt.min()) if len(rtt) else None,
        "path_rtt_ms": run.path_rtt_ms,
        "mac_floor_ms": floor,
        **_counts(flows),
        **_jain_overall(flows),
        "friendliness": _friendliness(flows),
        **_radio(flows, mac),
        "flows": _per_flow(run, flows, aligned),
        "cross_checks": checks,
        **({} if run.events is None else {"events_count": _events(run.events)}),
        "alignment": run.alignment,
        "software": run.manifest.software,
    }


def _duration_s(flows: Sequence[ObservedFlow]) -> float:
    """From the first payload packet sent to the last one received."""
    first = min(flow.first_utc_ns for flow in flows)
    return max(max(flow.last_utc_ns for flow in flows) - first, 1) / 1e9


def _throughput_bps(flow: ObservedFlow, duration_s: float) -> float | None:
    return float(flow.arrivals[1].sum()) * 8 / duration_s if flow.tells_arrivals else None


def _goodput_bps(flow: ObservedFlow, duration_s: float) -> float | None:
    return float(flow.delivered[1].sum()) * 8 / duration_s if flow.tells_arrivals else None


def _sum(values: Iterable[float | None]) -> float | None:
    """Null if one is: what is not known of a part is not known of the whole."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _counts(flows: Sequence[ObservedFlow]) -> dict[str, int | None]:
    """Sums over TCP flows; null without any, or where a side that is needed was not captured."""
    tcp = [flow for flow in flows if flow.is_tcp]

    def count(seen: bool, of: Callable[[ObservedFlow], Float]) -> int | None:
        return sum(int(of(flow).sum()) for flow in tcp) if tcp and seen else None

    sent, both = all(flow.at_sender for flow in tcp), all(flow.at_both for flow in tcp)
    return {
        "retransmissions_count": count(sent, lambda flow: flow.retransmissions.count),
        "lost_before_link_count": count(sent, lambda flow: flow.lost_before_link.count),
        "fast_retransmissions_count": count(sent, lambda flow: flow.causes.fast.count),
        "timeout_retransmissions_count": count(sent, lambda flow: flow.causes.timeout.count),
        "spurious_retransmissions_count": count(both, lambda flow: flow.fates.spurious.count),
        "lost_in_link_count": count(both, lambda flow: flow.fates.lost.count),
    }


def _jain_overall(flows: Sequence[ObservedFlow]) -> dict[str, float | None]:
    """Of the flows' mean rates over the time in which all of them were sending."""
    begin, end = _common_time(flows)

    def index(sizes: list[tuple[Any, Any]]) -> float | None:
        if len(sizes) < len(flows):
            return None
        within = [_sum_between(at, size, begin, end) for at, size in sizes]
        value = float(jain(np.array(within)[:, None])[0])
        return None if np.isnan(value) else value

    return {
        "jain_throughput": index([f.arrivals for f in flows if f.tells_arrivals]),
        "jain_sending_rate": index(
            [(f.sent.utc_ns, f.sent.ip_bytes) for f in flows if f.at_sender]
        ),
    }


def _radio(flows: Sequence[ObservedFlow], mac: pd.DataFrame | None) -> dict[str, Any]:
    """Of the traffic time and of the direction of the first flow."""
    way = flows[0].flow.direction
    start = min(flow.first_utc_ns for flow in flows)
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
        key: quantiles(_values(during, name), p5=5, p95=95) for key, name in gauges.items()
    }
    radio["utilisation_ratio"] = _utilisation(during, way)
    if during is not None and "mac_technology" in during:
        radio["technology_ratio"] = _technologies(during)
    return radio


def _events(events: pd.DataFrame) -> dict[str, int]:
    """How often each kind of event was seen while the phone was watched."""
    return {str(name): int(count) for name, count in events["event"].value_counts().items()}


def _technologies(during: pd.DataFrame) -> dict[str, float]:
    """Shares of the time, as far as the phone told it."""
    told = during[during["mac_technology"].notna()]
    lasted = told.groupby("mac_technology")["duration_ns"].sum()
    names = lasted.index.map(lambda value: TECHNOLOGIES.get(int(value), "unknown"))
    return {str(name): float(ns / lasted.sum()) for name, ns in zip(names, lasted, strict=True)}


def _utilisation(during: pd.DataFrame | None, way: str) -> float | None:
    delivered = np.nansum(_values(during, f"mac_{way}_sdu_bytes"))
    capacity = np.nansum(_values(during, f"mac_{way}_capacity_sdu_bytes"))
    return float(delivered / capacity) if capacity else None


def _values(table: pd.DataFrame | None, name: str) -> Float:
    if table is None or name not in table:
        return np.zeros(0)
    values: Float = table[name].to_numpy(dtype="float64", na_value=np.nan)
    return values


def _friendliness(flows: Sequence[ObservedFlow]) -> float | None:
    """Over the time in which all of them were sending."""
    if not all(flow.tells_arrivals for flow in flows):
        return None
    begin, end = _common_time(flows)
    within = [_sum_between(f.delivered[0], f.delivered[1], begin, end) for f in flows]
    return friendliness(within, [flow.flow.cc for flow in flows])


def _common_time(flows: Sequence[ObservedFlow]) -> tuple[int, int]:
    begin = max(flow.first_utc_ns for flow in flows)
    return begin, min(flow.last_sent_utc_ns for flow in flows)


def _sum_between(at: Int, sizes: npt.NDArray[np.generic], begin: int, end: int) -> float:
    return float(sizes[(at >= begin) & (at < end)].sum())


def _per_flow(
    run: AlignedRun, flows: Sequence[ObservedFlow], aligned: pd.DataFrame
) -> list[dict[str, Any]]:
    count = len(aligned) // len(flows)  # every flow has a row for every bin, in this order
    return [
        _flow(run, flow, aligned.iloc[index * count : (index + 1) * count])
        for index, flow in enumerate(flows)
    ]


def _flow(run: AlignedRun, flow: ObservedFlow, aligned: pd.DataFrame) -> dict[str, Any]:
    duration_s = _duration_s([flow])
    owd_ms = flow.one_way_delay.value_ms
    owd = quantiles(owd_ms, **PERCENTS)
    found: dict[str, Any] = {
        "id": flow.flow.id,
        "cc": flow.flow.cc_read_back or flow.flow.cc,
        "direction": flow.flow.direction,
        "start_s": flow.flow.start_s,
        "duration_s": duration_s,
        "arrivals_source": arrivals_source(flow),
        "received_payload_bytes": int(flow.arrivals[1].sum()) if flow.tells_arrivals else None,
        "throughput_bps": _throughput_bps(flow, duration_s),
        "goodput_bps": _goodput_bps(flow, duration_s),
        "rtt_ms": quantiles(flow.rtt.value_ms, **PERCENTS),
        "owd_ms": owd,
        "self_inflicted_delay_ms": _self_inflicted_ms(owd["p95"], owd_ms),
        "lost_in_link_count": int(flow.lost.count.sum()) if flow.at_both else None,
        **shares_within(flow),
        **transmission_cost(flow),
    }
    start_s = (flow.first_utc_ns - int(aligned["utc_ns"].iloc[0])) / 1e9
    of_tcp = _of_tcp(run, flow, duration_s) | convergence(aligned, start_s)
    return found | (of_tcp if flow.is_tcp else dict.fromkeys(of_tcp))


def _of_tcp(run: AlignedRun, flow: ObservedFlow, duration_s: float) -> dict[str, Any]:
    found: dict[str, Any] = desired_delay(run, flow)
    names = ("retransmissions_count", "ack_blocks_per_s", "packets_per_ack_block")
    if not flow.at_sender:
        return found | dict.fromkeys(names)
    blocks = flow.ack_blocks
    per_block = float(blocks.packets.mean()) if len(blocks.packets) else None
    counted = int(flow.retransmissions.count.sum()), len(blocks.utc_ns) / duration_s, per_block
    return found | dict(zip(names, counted, strict=True))


def _self_inflicted_ms(p95_ms: float | None, owd_ms: Float) -> float | None:
    """What the flow's own queue adds: the 95th percentile beyond the least delay."""
    return None if p95_ms is None else p95_ms - float(owd_ms.min())
