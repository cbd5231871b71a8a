# SPDX-License-Identifier: Apache-2.0
"""Dashboard 2: several runs on one relative time axis."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, chosen, files
from boards.names import UID
from boards.panels import against, listing, series

SHOWN = 12
"""The number of lines that a person can distinguish; it also keeps the panels fast when all runs are selected."""

FILTERED = (
    "cc IN (${cc:sqlstring}) AND direction IN (${direction:sqlstring}) "
    "AND coalesce(prb, 0)::text IN (${prb:sqlstring}) AND scenario IN (${scenario:sqlstring})"
)
PUBLISHED = "state = 'published' AND start_utc_ns IS NOT NULL"

PICKED = f"""
WITH picked AS (
    SELECT run_id, name, cc, row_number() OVER (ORDER BY {sql.MADE} DESC) AS number
    FROM testbed.run
    WHERE run_id::text IN (${{run:sqlstring}}) AND {PUBLISHED} AND {FILTERED}
    ORDER BY {sql.MADE} DESC
    LIMIT {SHOWN}
)""".strip()

NAMED = "f.cc || ' ' || f.flow || ' #' || p.number"
"""A flow of a run; the first column of the table has the run's number. Runs' names are too long for legends."""


def dashboard() -> Dashboard:
    return board(
        "compare",
        "Testbed · 2 Compare",
        f"The {SHOWN} newest of the selected runs on one axis, which starts at the first payload packet of each.",
        [_which(), "Over time", *_lines(), "Trade-off and distributions", *_distributions()],
        [*_filters(), _runs(), files()],
    )  # fmt: skip


def _filters() -> list[object]:
    return [
        _filter("cc", "Congestion control", "cc"),
        _filter("direction", "Direction", "direction"),
        _filter("prb", "PRB", "coalesce(prb, 0)::text"),
        _filter("scenario", "Scenario", "scenario"),
    ]


def _filter(name: str, label: str, column: str) -> object:
    query = f"SELECT DISTINCT {column} FROM testbed.run WHERE {PUBLISHED} ORDER BY 1"
    return chosen(name, label, query, f"Runs of this {label.lower()}.", many=True)


def _runs() -> object:
    query = (
        f"SELECT name AS __text, run_id::text AS __value FROM testbed.run WHERE {PUBLISHED} "
        f"AND {FILTERED} ORDER BY {sql.MADE} DESC LIMIT 200"
    )
    return chosen("run", "Runs", query, "Those that the other variables leave; newest first.",
                  many=True)  # fmt: skip


def _which() -> object:
    query = f"""{PICKED}
SELECT '#' || p.number AS "#", r.name AS run, r.verdict, r.cc,
       r.throughput_bps AS throughput, r.utilisation_ratio AS utilisation, r.rtt_p50_ms AS "RTT p50",
       r.rtt_p95_ms AS "RTT p95", r.retransmissions_count AS retransmissions,
       r.jain_throughput AS "Jain's index", r.direction, r.scenario, r.seed, r.radio,
       (r.duration_s * 1000)::bigint AS duration_ms, r.run_id
FROM picked p JOIN testbed.run r USING (run_id)
ORDER BY p.number"""
    url = f"/d/{UID['run']}?var-run=${{__data.fields.run_id}}&from=0&to=${{__data.fields.duration_ms}}"
    units = {"throughput": "bps", "utilisation": "percentunit", "RTT p50": "ms", "RTT p95": "ms"}
    return listing(
        "Runs", query,
        "The runs shown below, with their numbers in legends, and main metrics; click a run's name to open it.",
        units=units, links={"run": ("Open this run", url)}, hidden=["run_id", "duration_ms"],
        wide={"cc": 110, "retransmissions": 130, "Jain's index": 100, "scenario": 120, "radio": 205}, height=7,
    )  # fmt: skip


def _over_time(column: str) -> str:
    return f"""{PICKED}
SELECT {sql.relative("o.t_s")} AS time, {NAMED} AS metric, o.{column} AS value
FROM picked p
JOIN testbed.flow f USING (run_id)
JOIN testbed.overview o USING (run_id, flow_id)
WHERE o.{sql.WITHIN}
ORDER BY 1, 2"""


def _lines() -> list[object]:
    columns = [
        ("Throughput", "bps", "tcp_throughput_bps", "Payload bits that reach the receiver, per second."),
        ("RTT", "ms", "tcp_rtt_ms", "By TCP timestamps. Dashed: limits of application classes (20, 40, 100 ms)."),
        ("Congestion window", "decbytes", "tcp_cwnd_bytes", "snd_cwnd · MSS, as the kernel reports it."),
        ("In flight", "decbytes", "tcp_inflight_bytes", "Highest byte sent minus highest acknowledged."),
    ]  # fmt: skip
    return [
        series(title, unit, _over_time(column), f"{about} Means of 200 ms.", width=12, height=9,
               delay=column == "tcp_rtt_ms", step="200ms")
        for title, unit, column, about in columns
    ]  # fmt: skip


def _distributions() -> list[object]:
    ellipses = f"""{PICKED}
SELECT {NAMED} AS series,
       m.rtt_mean_ms + sqrt(m.rtt_variance_ms2) * cos(a.angle) AS "RTT",
       greatest(0, m.throughput_mean_bps
           + coalesce(m.covariance_ms_bps / nullif(sqrt(m.rtt_variance_ms2), 0), 0) * cos(a.angle)
           + sqrt(greatest(0, m.throughput_variance_bps2
               - coalesce(m.covariance_ms_bps ^ 2 / nullif(m.rtt_variance_ms2, 0), 0))) * sin(a.angle)
       ) AS throughput
FROM picked p
JOIN testbed.flow f USING (run_id)
JOIN testbed.moments m USING (run_id, flow_id)
CROSS JOIN (SELECT i * pi() / 20 AS angle FROM generate_series(0, 40) AS i) a
ORDER BY p.number, f.flow_id, a.angle"""
    dots = f"""{PICKED}
SELECT {NAMED} AS series, o.tcp_rtt_ms AS "RTT", o.tcp_throughput_bps AS throughput
FROM picked p
JOIN testbed.flow f USING (run_id)
JOIN testbed.overview o USING (run_id, flow_id)
WHERE o.tcp_rtt_ms IS NOT NULL AND o.tcp_throughput_bps IS NOT NULL
ORDER BY p.number, f.flow_id, o.t_s"""
    rate, rtt = ("throughput", "bps"), ("RTT", "ms")
    share = ("share", "percentunit")
    return [
        against("Throughput against delay", rtt, rate, ellipses,
                "Ellipses of one standard deviation of RTT and throughput in means over 200 ms; top left is best.",
                delay=True),
        against("Every 200 ms", rtt, rate, dots, "One dot per 200 ms and flow.", lines=False, delay=True),
        against("RTT, CDF", rtt, share, _cdf("tcp_rtt_ms", "RTT"),
                "Share of the bins with an RTT of at most this.", width=8, height=10),
        against("Throughput, CDF", rate, share, _cdf("tcp_throughput_bps", "throughput"),
                "Share of the bins with a throughput of at most this.", width=8, height=10),
        against("SINR, CDF", ("SINR", "dB"), share, _cdf("mac_sinr_db", "SINR", radio=True),
                "Share of the bins with a downlink SINR of at most this, per UE.", width=8, height=10),
    ]  # fmt: skip


def _cdf(metric: str, name: str, radio: bool = False) -> str:
    joined = "" if radio else "JOIN testbed.flow f ON f.run_id = p.run_id AND f.flow_id = d.series\n"
    label = "p.cc || ' UE ' || d.series || ' #' || p.number" if radio else NAMED
    return f"""{PICKED}
SELECT {label} AS series, d.value AS "{name}", d.quantile AS share
FROM picked p
JOIN testbed.distribution d ON d.run_id = p.run_id AND d.metric = '{metric}'
{joined}ORDER BY p.number, d.series, d.quantile"""
