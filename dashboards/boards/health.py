# SPDX-License-Identifier: Apache-2.0
"""Dashboard 7: whether the machine could keep up."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, files, one_run
from boards.names import UID
from boards.panels import bars, listing, number, series
from boards.style import NEUTRAL


def dashboard() -> Dashboard:
    return board(
        "health",
        "Testbed · 7 Health",
        "Lateness, drops and CPU time of each program: whether a result describes the network. Runs in virtual time "
        "cannot be late: they have none.",
        [*_verdict(), "Over the run", *_over_time(), "Runs before", *_before()],
        [one_run(), files()],
    )


def _verdict() -> list[object]:
    of_run = f"FROM testbed.run WHERE {sql.RUN}"
    late = f"SELECT max(link_lateness_p99_us) FROM testbed.trust_sample WHERE {sql.RUN}"
    counts = f"""
SELECT coalesce(sum(link_overrun_count), 0) AS overruns FROM testbed.trust_sample
WHERE {sql.RUN}""".strip()
    drops = counts.replace("link_overrun_count", "host_drop_count").replace("AS overruns", "AS drops")
    parts = f"SELECT part, cpu_ratio AS cpu FROM testbed.part_cpu WHERE {sql.RUN} ORDER BY 2 DESC"
    reasons = f"""
SELECT unnest(CASE verdict_reasons WHEN '{{}}' THEN ARRAY['none'] ELSE verdict_reasons END) AS reason
{of_run}""".strip()
    return [
        number("Verdict", "none", f"SELECT coalesce(verdict, status) AS verdict {of_run}",
               "The worst of the verdicts of ccu, nr-link and ddu.", words=True, of_verdict=True),
        number("Worst lateness, 99 %", "µs", late, "Highest 99th percentile of all 20 ms bins.", decimals=0),
        number("Overruns", "none", counts, "Slots processed more than one slot late, at least 0.5 ms."),
        number("Host drops", "none", drops, "Packets that the host dropped, not the network."),
        listing("Reasons", reasons, "The reasons of the verdict.", width=8, height=4),
        bars("CPU of each part", "percentunit", parts, label="part", width=24, height=7,
             about="Share of one core, as reported by each program at its end: nr-link, and iperf3 at both ends.",
             colours={"cpu": NEUTRAL}),
    ]  # fmt: skip


def _over_time() -> list[object]:
    late = sql.per_step("trust_sample", {"lateness, 99 %": "max(s.link_lateness_p99_us)"})
    lost = sql.per_step("trust_sample", {
        "overruns": f"sum(s.link_overrun_count) / {sql.STEP}",
        "host drops": f"sum(s.host_drop_count) / {sql.STEP}"})  # fmt: skip
    cpu = sql.per_step("trust_sample", {"nr-link": "avg(s.emulator_cpu_ratio)"})
    return [
        series("Lateness", "µs", late,
               "Delay of a slot behind its scheduled instant; above half a slot the run is degraded.",
               colours={"lateness, 99 %": NEUTRAL}),
        series("Overruns and drops", "cps", lost, counts=True,
               colours={"overruns": "#d55e00", "host drops": "#0072b2"},
               about="Slots more than one slot (at least 0.5 ms) late, and packets dropped by the host, per second."),
        series("CPU of the link", "percentunit", cpu, "Share of one core used by nr-link.",
               colours={"nr-link": NEUTRAL}),
    ]  # fmt: skip


def _before() -> list[object]:
    query = f"""
SELECT r.name AS run, r.made, coalesce(r.verdict, r.status) AS verdict, t.late AS lateness,
       t.overruns, t.drops, p.cpu_ratio AS "CPU of the link", array_to_string(r.verdict_reasons, ' ') AS reasons,
       (coalesce(r.duration_s, 0) * 1000)::bigint AS duration_ms, r.run_id
FROM (
    SELECT *, {sql.MADE} AS made FROM testbed.run WHERE state = 'published' ORDER BY made DESC LIMIT 20
) r
LEFT JOIN LATERAL (
    SELECT max(link_lateness_p99_us) AS late, sum(link_overrun_count) AS overruns,
           sum(host_drop_count) AS drops
    FROM testbed.trust_sample s WHERE s.run_id = r.run_id
) t ON true
LEFT JOIN testbed.part_cpu p ON p.run_id = r.run_id AND p.part = 'nr-link'
ORDER BY r.made DESC""".strip()
    url = f"/d/{UID['run']}?var-run=${{__data.fields.run_id}}&from=0&to=${{__data.fields.duration_ms}}"
    return [
        listing("The last 20 runs", query, "Whether this machine keeps up, run by run.",
                units={"lateness": "µs", "CPU of the link": "percentunit"},
                links={"run": ("Open this run", url)}, hidden=["run_id", "duration_ms"],
                wide={"made": 150, "CPU of the link": 130, "reasons": 200}, height=10)
    ]  # fmt: skip
