# SPDX-License-Identifier: Apache-2.0
"""Dashboard 4: the radio, per UE."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, chosen, files, one_run
from boards.panels import heat, listing, series, states
from boards.style import NEUTRAL
from ddu.report.palette import sequence

OF_UE = " AND s.ue::text IN (${ue:sqlstring})"


def dashboard() -> Dashboard:
    return board(
        "radio",
        "Testbed · 4 Radio",
        "MCS, BLER, RSRP and PRBs as heat maps, and HARQ rounds, per UE.",
        ["Downlink", *_direction("dl"), "Uplink", *_direction("ul"), "Both", *_signal(), "Several cells", *_cells()],
        [
            one_run(" AND EXISTS (SELECT FROM testbed.flow f WHERE f.run_id = run.run_id)"),
            chosen("ue", "UE", f"SELECT DISTINCT ue::text FROM testbed.radio_sample WHERE {sql.RUN} "
                   "ORDER BY 1", "UEs of the run, by index.", many=True),
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


def _direction(direction: str) -> list[object]:
    name = {"dl": "downlink", "ul": "uplink"}[direction]
    rounds = {f"round {n}": f"sum(s.mac_{direction}_rounds_{n}_count) / {sql.STEP}" for n in range(1, 5)}
    rounds["given up"] = f"sum(s.mac_{direction}_errors_count) / {sql.STEP}"
    waits = {"waiting": f"avg(s.mac_{direction}_rlc_wait_ms)", "HARQ": f"avg(s.mac_{direction}_harq_ms)",
             "all of RLC": f"avg(s.mac_{direction}_rlc_delay_ms)"}  # fmt: skip
    rates = {"delivered": f"avg(s.mac_{direction}_sdu_throughput_bps)",
             "capacity": f"avg(s.mac_{direction}_capacity_sdu_bps)"}  # fmt: skip
    return [
        heat(f"MCS, {name}", "none", _values(f"mac_{direction}_mcs"),
             "How often each MCS was used for first transmissions."),
        heat(f"BLER, {name}", "percentunit", _values(f"mac_{direction}_bler_ratio"),
             "Share of failed first transmissions; the target of link adaptation is 10 %."),
        heat(f"PRBs, {name}", "none", _values(f"mac_{direction}_prb_count"),
             "Allocated PRBs, summed over the slots of a 20 ms bin."),
        series(f"HARQ rounds, {name}", "cps", _chosen_ues(rounds), width=12, height=9,
               colours=dict(zip(rounds, sequence(5), strict=True)),
               about="Transmissions per second by HARQ round, and transport blocks that failed in all rounds."),
        series(f"Throughput and capacity, {name}", "bps", _chosen_ues(rates), width=12, height=9,
               colours={"delivered": "#0072b2", "capacity": NEUTRAL},
               about="IP bits that the MAC delivered, and that it could have delivered with a full queue."),
        series(f"Delay in the link, {name}", "ms", _chosen_ues(waits), width=12, height=9, delay=True,
               colours=dict(zip(waits, sequence(3), strict=True)),
               about="Mean times of delivered packets: waiting for the first transmission, HARQ and reordering, "
               "and their sum. Dashed: limits of application classes (20, 40, 100 ms)."),
    ]  # fmt: skip


def _signal() -> list[object]:
    power = {"headroom": "avg(s.mac_phr_db)", "limit": "avg(s.mac_pcmax_dbm)"}
    reports = {"CQI": "avg(s.mac_cqi)", "rank": "avg(s.mac_ri)"}
    return [
        heat("RSRP", "dBm", _values("mac_rsrp_dbm"), "Reference signal received power at the UE."),
        heat("SINR, downlink", "dB", _values("mac_sinr_db"), "Effective SINR at the UE."),
        series("Reports of the UE", "none", _chosen_ues(reports), width=12, height=9,
               colours=dict(zip(reports, sequence(2), strict=True)),
               about="Last CQI and rank reported by the UE."),
        series("Uplink power", "dB", _chosen_ues(power), width=12, height=9, least=None,
               colours=dict(zip(power, sequence(2), strict=True)),
               about="Power headroom reported by the UE (dB), and its configured maximum power (dBm)."),
    ]  # fmt: skip


def _cells() -> list[object]:
    """Return the serving cell over time, and what happened to the UEs' connections."""
    colours = {str(cell): (f"cell {cell}", colour) for cell, colour in enumerate(sequence(10))}
    events = f"""
SELECT s.t_s AS "t (s)", s.ue AS "UE", s.kind AS event, s.cell, s.target,
       coalesce(s.handover, s.event, s.cause, s.class) AS "procedure or cause",
       s.interruption_ns / 1e6 AS "interruption (ms)", s.forwarded_bytes AS forwarded,
       s.retransmitted_bytes AS retransmitted, s.discarded_bytes AS discarded
FROM testbed.radio_event s
WHERE s.{sql.RUN}{OF_UE} AND s.{sql.WITHIN}
ORDER BY s.utc_ns""".strip()
    size = dict.fromkeys(("forwarded", "retransmitted", "discarded"), "bytes")
    return [
        states("Serving cell", _values("mac_cell"),
               "The cell that serves the UE, as the scenario numbers it; empty in a run with one cell.", colours),
        listing("Events of the connection", events,
                "Reports, handovers, failures and re-establishments (docs/run-directory.md, radio-events.jsonl).",
                units=size, wide={"event": 190, "procedure or cause": 150, "interruption (ms)": 135}),
    ]  # fmt: skip
