# SPDX-License-Identifier: Apache-2.0
"""Queries that several panels need. Grafana fills in `$__…` and `${variable:sqlstring}`.

Grafana quotes variables and escapes the quotes in them (`:sqlstring`), and run numbers are cast, so that
any name is safe. The relative axis starts in 1970: t_s = 0 is 1970-01-01T00:00:00 UTC.
"""

from __future__ import annotations

RUN = "run_id = nullif(${run:sqlstring}, '')::int"

MADE = "CASE testbed WHEN 'virtual' THEN published_at ELSE coalesce(started, published_at) END"
"""When a run was made. Virtual time begins at the same instant of 2001 in every run; such runs have the date of their
publication."""

STEP = "(greatest(1, ceil($__interval_ms / 20.0)) * 0.02)"
"""Seconds per point of a plot: one bin of 20 ms, or whole ones if the panel is too narrow. Of 50 ms, one step would
have two bins and the next three, and sums would go up and down."""

BEGIN = f"floor(s.t_s / {STEP} + 1e-6) * {STEP}"
"""The begin of the step in which a row of `s` is, in seconds. 0.58 / 0.02 is 28.999…: without the millionth, a bin that
begins a step counted to the one before."""

WITHIN = "t_s BETWEEN $__unixEpochFrom() - 1 AND $__unixEpochTo() + 1"


def relative(seconds: str) -> str:
    """Return the SQL of an instant in 1970 for an expression in seconds since the run's first payload."""
    return f"timestamptz 'epoch' + ({seconds}) * interval '1 second'"


def per_flow(value: str, where: str = "") -> str:
    """Return the SQL of `value`, an aggregate over transport_sample `s`, per step and flow of the run."""
    return f"""
SELECT {relative(BEGIN)} AS time,
       f.cc || ' ' || f.flow AS metric,
       {value} AS value
FROM testbed.transport_sample s
JOIN testbed.flow f USING (run_id, flow_id)
WHERE s.{RUN} AND s.{WITHIN}{where}
GROUP BY 1, 2 ORDER BY 1, 2""".strip()


def per_ue(values: dict[str, str]) -> str:
    """Return the SQL of aggregates over radio_sample `s`, by name, per step and UE of the run."""
    inner = ", ".join(f"{value} AS v{number}" for number, value in enumerate(values.values()))
    pairs = ", ".join(f"('{name}', v{number})" for number, name in enumerate(values))
    return f"""
SELECT {relative("b.t_s")} AS time, m.name || ' UE ' || b.ue AS metric, m.value AS value
FROM (
    SELECT {BEGIN} AS t_s, s.ue, {inner}
    FROM testbed.radio_sample s
    WHERE s.{RUN} AND s.{WITHIN}
    GROUP BY 1, 2
) b
CROSS JOIN LATERAL (VALUES {pairs}) AS m (name, value)
ORDER BY 1, 2""".strip()


def per_step(table: str, values: dict[str, str]) -> str:
    """Return the SQL of aggregates over a table without flows and UEs, one column each."""
    columns = ",\n       ".join(f'{value} AS "{name}"' for name, value in values.items())
    return f"""
SELECT {relative(BEGIN)} AS time,
       {columns}
FROM testbed.{table} s
WHERE s.{RUN} AND s.{WITHIN}
GROUP BY 1 ORDER BY 1""".strip()
