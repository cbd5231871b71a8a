# SPDX-License-Identifier: Apache-2.0
"""Dashboard 4: what the radio did, per UE."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, chosen, files, one_run
from boards.panels import heat, series
from ddu.report.palette import sequence

OF_UE = " AND s.ue::text IN (${ue:sqlstring})"


def dashboard() -> Dashboard:
    return board(
        "radio",
        "Testbed · 4 Radio",
        "MCS, BLER, RSRP and PRBs as heat maps, and the rounds of HARQ, per UE.",
        ["Downlink", *_way("dl"), "Uplink", *_way("ul"), "Both", *_signal()],
        [
            one_run(" AND EXISTS (SELECT FROM testbed.flow f WHERE f.run_id = run.run_id)"),
            chosen("ue", "UE", f"SELECT DISTINCT ue::text FROM testbed.radio_sample WHERE {sql.RUN} "
                   "ORDER BY 1", "UEs of the run, by their index.", many=True),
            files(),
        ],
    )  # fmt: skip


def _values(column: str) -> str:
    return f"""
SELECT {sql.relative("s.t_s")} AS time, 'UE ' || s.ue AS metric, s.{column} AS value
FROM testbed.radio_sample s
WHERE s.{sql.RUN}{OF_UE} AND s.{sql.WITHIN} AND s.{column} IS NOT NULL
ORDER BY 1, 2""".strip()


def _chosen_ues(values: dict[str, str]) -> str:
    return sql.per_ue(values).replace("\n    GROUP BY 1, 2", f"{OF_UE}\n    GROUP BY 1, 2")


def _way(way: str) -> list[object]:
    name = {"dl": "downlink", "ul": "uplink"}[way]
    rounds = {f"round {n}": f"sum(s.mac_{way}_rounds_{n}_count) / {sql.STEP}" for n in range(1, 5)}
    rounds["given up"] = f"sum(s.mac_{way}_errors_count) / {sql.STEP}"
    waits = {"waiting": f"avg(s.mac_{way}_rlc_wait_ms)", "HARQ": f"avg(s.mac_{way}_harq_ms)",
             "all of RLC": f"avg(s.mac_{way}_rlc_delay_ms)"}  # fmt: skip
    rates = {"delivered": f"avg(s.mac_{way}_sdu_throughput_bps)",
             "capacity": f"avg(s.mac_{way}_capacity_sdu_bps)"}  # fmt: skip
    return [
        heat(f"MCS, {name}", "none", _values(f"mac_{way}_mcs"),
             "How often each modulation and coding scheme was used for first transmissions."),
        heat(f"BLER, {name}", "percentunit", _values(f"mac_{way}_bler_ratio"),
             "First transmissions that failed; link adaptation aims at 10 %."),
        heat(f"PRBs, {name}", "none", _values(f"mac_{way}_prb_count"),
             "PRBs times slots that were allocated, per bin of 20 ms."),
        series(f"HARQ rounds, {name}", "cps", _chosen_ues(rounds), width=12, height=9,
               colours=dict(zip(rounds, sequence(5), strict=True)),
               about="Transmissions per second by HARQ round, and transport blocks that were given up."),
        series(f"Throughput and capacity, {name}", "bps", _chosen_ues(rates), width=12, height=9,
               colours={"delivered": "#0072b2", "capacity": "#4d4d4d"},
               about="IP bits that the MAC delivered, and could have delivered with a full queue."),
        series(f"Delay in the link, {name}", "ms", _chosen_ues(waits), width=12, height=9, delay=True,
               colours=dict(zip(waits, sequence(3), strict=True)),
               about="Mean residence of the packets delivered: waiting for the first transmission, HARQ and "
               "reordering, and their sum. Dashed: what applications can bear (20, 40, 100 ms)."),
    ]  # fmt: skip


def _signal() -> list[object]:
    power = {"headroom": "avg(s.mac_phr_db)", "limit": "avg(s.mac_pcmax_dbm)"}
    reports = {"CQI": "avg(s.mac_cqi)", "rank": "avg(s.mac_ri)"}
    return [
        heat("RSRP", "dBm", _values("mac_rsrp_dbm"), "Reference signal received power at the UE."),
        heat("SINR, downlink", "suffix: dB", _values("mac_sinr_db"), "Effective SINR at the UE."),
        series("Reports of the UE", "none", _chosen_ues(reports), width=12, height=9,
               colours=dict(zip(reports, sequence(2), strict=True)),
               about="Channel quality and rank that the UE reported last."),
        series("Uplink power", "suffix: dB", _chosen_ues(power), width=12, height=9, least=None,
               colours=dict(zip(power, sequence(2), strict=True)),
               about="Power headroom that the UE reported (dB), and its configured maximum (dBm)."),
    ]  # fmt: skip
