# SPDX-License-Identifier: Apache-2.0
"""Dashboard 5: inputs and decisions of Reminis, for each sampling interval."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, files, one_run
from boards.panels import bars, series, states
from boards.style import NEUTRAL, TEXT
from ddu.report.palette import colour_of, sequence

ZONES = {
    "1": ("zone 1: delay at most DTT, not rising: Non-Deterministic Exploration (NDE)", "#009e73"),
    "2": ("zone 2: delay at most DTT, rising: Proactive Slowdown (PS)", "#e69f00"),
    "3": ("zone 3: delay above DTT: Catastrophe Mitigation (CM)", "#d55e00"),
}
ACTIONS = {"none": NEUTRAL, "nde": "#009e73", "ps": "#e69f00", "cm": "#d55e00"}

OF_REMINIS = f"{sql.RUN} AND s.trace = 'reminis'"
HAS_TRACE = " AND EXISTS (SELECT FROM testbed.cc_sample s WHERE s.run_id = run.run_id AND s.trace = 'reminis')"


def dashboard() -> Dashboard:
    return board(
        "reminis",
        "Testbed · 5 Reminis",
        "Zones, delay compared with the delay tolerance threshold (DTT), its gradient, the mean of the Gaussian, "
        "and the action of each sampling interval.",
        _panels(),
        [one_run(HAS_TRACE, "; only runs with a trace of Reminis"), files()],
    )


def _trace(columns: dict[str, str], per: int = 1) -> str:
    """Return the SQL of the means of columns of the trace, by name, divided by `per`."""
    means = (f"avg((s.record ->> '{column}')::real) / {per}" for column in columns.values())
    inner = ", ".join(f"{mean} AS v{number}" for number, mean in enumerate(means))
    pairs = ", ".join(f"('{name}', v{number})" for number, name in enumerate(columns))
    return f"""
SELECT {sql.relative("b.t_s")} AS time, m.name || ' ' || f.flow AS metric, m.value AS value
FROM (
    SELECT {sql.BEGIN} AS t_s, s.run_id, s.flow_id, {inner}
    FROM testbed.cc_sample s
    WHERE s.{OF_REMINIS} AND s.{sql.WITHIN}
    GROUP BY 1, 2, 3
) b
JOIN testbed.flow f USING (run_id, flow_id)
CROSS JOIN LATERAL (VALUES {pairs}) AS m (name, value)
ORDER BY 1, 2""".strip()


def _panels() -> list[object]:
    delay = {"delay": "delay_us", "DTT": "dtt_us", "least RTT": "min_rtt_us"}
    gaussian = {"mean": "mu", "draw": "draw"}
    window = {"before": "cwnd_before", "after": "cwnd_after"}
    zone = f"""
SELECT {sql.relative(sql.BEGIN)} AS time, f.cc || ' ' || f.flow AS metric,
       mode() WITHIN GROUP (ORDER BY (s.record ->> 'zone')::real::int) AS value
FROM testbed.cc_sample s
JOIN testbed.flow f USING (run_id, flow_id)
WHERE s.{OF_REMINIS} AND s.{sql.WITHIN}
GROUP BY 1, 2 ORDER BY 1, 2""".strip()
    actions = f"""
SELECT f.cc || ' ' || f.flow AS flow,
       {", ".join(f"count(*) FILTER (WHERE s.record ->> 'action' = '{name}') AS {name}" for name in ACTIONS)}
FROM testbed.cc_sample s
JOIN testbed.flow f USING (run_id, flow_id)
WHERE s.{OF_REMINIS} AND s.{sql.WITHIN}
GROUP BY 1 ORDER BY 1""".strip()
    own = colour_of("reminis")
    return [
        states("Zone", zone, "The zone of most sampling intervals.", ZONES),
        series("Delay against DTT", "ms", _trace(delay, per=1000), delay=True, height=8,
               colours={"delay": own, "DTT": TEXT, "least RTT": "#0072b2"},
               about="RTT of the sampling interval, the threshold DTT, and the minimum RTT. "
               "Dashed: limits of application classes (20, 40, 100 ms)."),
        series("Gradient of delay", "none", _trace({"gradient": "gradient"}), least=None,
               colours={"gradient": own},
               about="Change of the delay from one sampling interval to the next, over time; PS uses it."),
        series("Mean of the Gaussian, and draw", "none", _trace(gaussian), least=None, dots="draw",
               colours={"mean": own, "draw": NEUTRAL},
               about="NDE draws the growth of the window from this Gaussian."),
        series("Window around an action", "short", _trace(window),
               colours=dict(zip(window, sequence(2), strict=True)),
               about="Congestion window in packets, before and after each sampling interval's action."),
        bars("Actions", "short", actions, label="flow", stacked=True, colours=ACTIONS,
             about="Number of sampling intervals by action: none, Non-Deterministic Exploration (nde), "
             "Proactive Slowdown (ps), Catastrophe Mitigation (cm)."),
        series("Sampling interval", "ms", _trace({"interval": "si_us"}, per=1000), width=12, height=9,
               colours={"interval": own}, about="Length of the sampling intervals."),
    ]  # fmt: skip
