# SPDX-License-Identifier: Apache-2.0
"""Dashboard 3: progress of a campaign, its cells with confidence intervals, and its failures."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig
from scipy.special import stdtrit

from boards import sql
from boards.board import board, chosen, files
from boards.names import CONGESTION_CONTROLS, UID
from boards.panels import bars, listing, number
from boards.style import BAD, OK, TEXT, WARN

OF = "campaign IN (${campaign:sqlstring})"

STUDENT = f"(ARRAY[{', '.join(f'{stdtrit(n, 0.975):.3f}' for n in range(1, 31))}])"
"""Student's t, two-sided 95 %, for 1 to 30 degrees of freedom."""

RESULT = "status = 'finished' AND verdict <> 'invalid'"
"""The runs that are results, as for a campaign's report."""

POINT = """
coalesce((SELECT string_agg(key || '=' || value, ' ' ORDER BY key) FROM jsonb_each_text(levels) WHERE key <> 'cc'),
         scenario || ' ' || direction || ' ' || coalesce(prb::text, '-'))""".strip()
"""The point of the campaign, without the congestion control; of runs without levels, scenario, direction and PRBs."""

CELLS = f"""
WITH cell AS (
    SELECT {POINT} AS point, cc, direction, scenario, experiment_id,
           count(*) FILTER (WHERE {RESULT}) AS n,
           count(*) AS runs,
           count(*) FILTER (WHERE verdict = 'degraded') AS degraded,
           count(*) FILTER (WHERE verdict = 'invalid' OR status IN ('failed', 'interrupted')) AS failed,
           avg(throughput_bps) FILTER (WHERE {RESULT}) AS rate,
           stddev_samp(throughput_bps) FILTER (WHERE {RESULT}) AS rate_sd,
           avg(rtt_p50_ms) FILTER (WHERE {RESULT}) AS rtt,
           stddev_samp(rtt_p50_ms) FILTER (WHERE {RESULT}) AS rtt_sd,
           avg(utilisation_ratio) FILTER (WHERE {RESULT}) AS utilisation
    FROM testbed.run
    WHERE {OF} AND state = 'published'
    GROUP BY point, cc, direction, scenario, experiment_id
), interval AS (
    SELECT *, {STUDENT}[least(n - 1, 30)] / sqrt(nullif(n, 0)) AS t
    FROM cell
)""".strip()


def dashboard() -> Dashboard:
    return board(
        "campaign",
        "Testbed · 3 Campaign",
        "Progress of a campaign, its cells with confidence intervals, and the runs that failed.",
        [*_progress(), *_cells(), *_faults()],
        [
            chosen(
                "campaign", "Campaign",
                f"SELECT campaign FROM testbed.run GROUP BY campaign ORDER BY max({sql.MADE}) DESC",
                "Runs without a campaign are in (none).", many=True,
            ),
            files(),
        ],
    )  # fmt: skip


def _count(title: str, condition: str, about: str, colour: str, width: int = 3) -> object:
    query = f"SELECT count(*) FROM testbed.run WHERE {OF} AND {condition}"
    return number(title, "none", query, about, levels=[(None, colour)], width=width)


def _progress() -> list[object]:
    """Show the cells with a result relative to the planned ones, if the campaign's directory was published."""
    done = f"""
SELECT (SELECT count(DISTINCT campaign || '/' || split_part(name, '/', 2)) FROM testbed.run
        WHERE {OF} AND {RESULT} AND name LIKE campaign || '/%')
       / nullif((SELECT sum(planned_count)::float8 FROM testbed.campaign WHERE name IN (${{campaign:sqlstring}})), 0)
       AS done""".strip()
    latest = f"SELECT (extract(epoch FROM max({sql.MADE})) * 1000)::bigint AS latest FROM testbed.run WHERE {OF}"
    return [
        _count("Runs", "true", "Runs of the campaign in the store.", TEXT),
        _count("Valid", "verdict = 'valid'", "Runs in which the machine kept up.", OK),
        _count("Degraded", "verdict = 'degraded'", "Usable with care; the reasons are below.", WARN),
        _count("Failed or invalid", "(verdict = 'invalid' OR status IN ('failed', 'interrupted'))",
               "Runs that say nothing about the network; the reasons are below.", BAD, width=4),
        _count("In progress", "state = 'live'", "Runs in progress; see the dashboard Live.", TEXT),
        number("Done", "percentunit", done, "Cells with a valid or degraded run, relative to the planned ones; needs "
               "a campaign that was published by its directory.", decimals=0, width=4),
        number("Latest", "dateTimeFromNow", latest, "Start of the latest run; of one in virtual time, its publication.",
               width=4),
    ]  # fmt: skip


def _cells() -> list[object]:
    cells = f"""{CELLS}
SELECT point, cc, rate AS throughput, t * rate_sd AS "± throughput", rtt AS "RTT p50", t * rtt_sd AS "± RTT",
       utilisation, runs, n AS "counted", degraded, failed, direction, scenario
FROM interval
ORDER BY point, cc"""
    matrix = f"""{CELLS}
SELECT point AS cell, cc, avg(rate) AS throughput
FROM interval
GROUP BY 1, 2
ORDER BY 1, 2"""
    by_cc = f"""{CELLS}
SELECT point AS cell,
       {", ".join(_column(cc) for cc in CONGESTION_CONTROLS[:6])}
FROM interval
GROUP BY 1
ORDER BY 1, 2"""
    pivot = {"columnField": "cc", "rowField": "cell", "valueField": "throughput"}
    return [
        listing("Cells", cells,
                "A row for each point of the campaign: what it varies, and the congestion control. ±: half of the 95 % "
                "confidence interval of the mean over its runs (Student's t; needs two). Failed and invalid runs are "
                "counted, and in no mean.",
                units={"throughput": "bps", "± throughput": "bps", "RTT p50": "ms", "± RTT": "ms",
                       "utilisation": "percentunit"},
                wide={"point": 200, "± throughput": 110}, height=10, filterable=True),
        listing("Throughput by cell and congestion control", matrix, "Means over valid and degraded runs.",
                transform=[DataTransformerConfig(id_val="groupingToMatrix", options=pivot)],
                unit="bps", wide={r"cell\cc": 200}, width=12, height=9),
        bars("Throughput by cell", "bps", by_cc, "Means over valid and degraded runs, for the most common "
             "congestion controls.", label="cell"),
    ]  # fmt: skip


def _column(cc: str) -> str:
    return f"avg(rate) FILTER (WHERE cc = '{cc}') AS {cc}"


def _faults() -> list[object]:
    query = f"""
SELECT name AS run, {sql.MADE} AS made, coalesce(verdict, status) AS verdict,
       status, coalesce(failure, array_to_string(verdict_reasons, ' ')) AS reason, cc, direction,
       {POINT} AS point, (coalesce(duration_s, 0) * 1000)::bigint AS duration_ms, run_id
FROM testbed.run
WHERE {OF} AND state = 'published' AND (verdict IS DISTINCT FROM 'valid' OR status <> 'finished')
ORDER BY made DESC
LIMIT 500""".strip()
    url = f"/d/{UID['run']}?var-run=${{__data.fields.run_id}}&from=0&to=${{__data.fields.duration_ms}}"
    return [
        listing("Failed, invalid and degraded runs", query, "Each with its reason; newest first.",
                links={"run": ("Open this run", url)}, hidden=["run_id", "duration_ms"],
                wide={"made": 150, "reason": 250, "point": 150}, height=10, filterable=True)
    ]  # fmt: skip
