# SPDX-License-Identifier: Apache-2.0
"""The radio during the traffic time, in the direction of the run's first flow."""

from __future__ import annotations

from collections.abc import Callable

from ddu.metrics.distribution import quantiles
from ddu.metrics.metric import Need, SummaryMetric, Value
from ddu.metrics.views import RunView
from ddu.readers.android.cells import TECHNOLOGIES

_PARTS = ("mean", "p5", "p95")


def _quantiles(column: Callable[[str], str]) -> Callable[[RunView], Value]:
    """Return mean and percentiles of the MAC's column that `column` names for a direction."""
    return lambda run: quantiles(run.mac_values(column(run.direction)), p5=5, p95=95)


def _utilisation(run: RunView) -> float | None:
    mac = run.capacity_bytes(run.direction)
    if mac is None:
        return None
    capacity_bytes = mac["capacity_bytes"].sum()
    delivered_bytes = mac[f"mac_{run.direction}_sdu_bytes"].sum()
    return float(delivered_bytes / capacity_bytes) if capacity_bytes else None


def technologies(run: RunView) -> dict[str, float] | None:
    """Return the share of each radio technology in the time in which it is known; None without the
    column `mac_technology`."""
    mac = run.mac_in_traffic
    if mac is None or "mac_technology" not in mac:
        return None
    known = mac[mac["mac_technology"].notna()]
    lasted_ns = known.groupby("mac_technology")["duration_ns"].sum()
    names = lasted_ns.index.map(lambda value: TECHNOLOGIES.get(int(value), "unknown"))
    shares = lasted_ns / lasted_ns.sum()
    return {str(name): float(share) for name, share in zip(names, shares, strict=True)}


METRICS = (
    SummaryMetric(
        "utilisation_ratio", "IP bytes that the MAC delivered, of what it could have delivered",
        "Utilisation",
        details="Σ `mac_{direction}_sdu_bytes` / Σ `mac_{direction}_capacity_sdu_bytes`, in the "
        "direction of the run's first flow; null where several UEs had data over one radio, as "
        "what each could have had are the same resources",
        needs=(Need.MAC,), of_run=_utilisation,
    ),
    SummaryMetric(
        "rsrp_dbm", "reference signal received power", "RSRP", needs=(Need.MAC,), parts=_PARTS,
        of_run=_quantiles(lambda _: "mac_rsrp_dbm"),
    ),
    SummaryMetric(
        "sinr_db", "SINR at the UE; in uplink runs, SNR at the gNB", "SINR", needs=(Need.MAC,),
        parts=_PARTS,
        of_run=_quantiles(
            lambda direction: "mac_sinr_db" if direction == "dl" else "mac_ul_snr_db"
        ),
    ),
    SummaryMetric(
        "mcs", "modulation and coding scheme of first transmissions", "MCS", "index",
        needs=(Need.MAC,), parts=_PARTS,
        of_run=_quantiles(lambda direction: f"mac_{direction}_mcs"),
    ),
    SummaryMetric(
        "bler_ratio", "first transmissions that failed", "BLER", needs=(Need.MAC,), parts=_PARTS,
        of_run=_quantiles(lambda direction: f"mac_{direction}_bler_ratio"),
    ),
)  # fmt: skip
