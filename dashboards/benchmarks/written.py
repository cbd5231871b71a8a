# SPDX-License-Identifier: Apache-2.0
"""Write the results of the benchmark to docs/benchmarks/dashboards.md."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from statistics import median

from ddu.store.connect import connected
from ddu.store.directory import StoreDirectory
from testsupport.panel_queries import Question

PANEL_MS, PUBLISH_S, SEEN_S = 200, 2, 1
TABLES = ("run", "transport_sample", "radio_sample", "trust_sample", "cc_sample", "overview", "distribution")


def report(
    file: Path,
    place: StoreDirectory,
    publishing: list[float],
    seen: list[float],
    times: dict[Question, list[float]],
    slowest: Question,
    plan: str,
) -> None:
    """Write the page, and print the most important result."""
    at_worst = median(times[slowest])
    lines = [
        "# Dashboards and store",
        "",
        f"Written by `make bench COMPONENT=dashboards` on {time.strftime('%Y-%m-%d', time.gmtime())}: {_machine()}.",
        "Times are from sending a query until the client has the last row: median of 5, including the first. "
        "All values of multi-value variables are selected.",
        "",
        "| measurement | limit | result | result / limit |",
        "|---|---|---|---|",
    ]
    if publishing:
        took = median(publishing)
        lines.append(f"| publish 100 s at 20 ms, 2 flows | {PUBLISH_S} s | {took:.2f} s | {took / PUBLISH_S:.2f} |")
    for name, value in (("median", median(seen)), ("longest", max(seen))):
        measure = f"live: from a sample in its file until a query returns it, {name} of {len(seen)}"
        lines.append(f"| {measure} | {SEEN_S} s | {value:.2f} s | {value / SEEN_S:.2f} |")
    measure = f"slowest of {len(times)} queries ({slowest.name})"
    lines.append(f"| {measure} | {PANEL_MS} ms | {at_worst:.1f} ms | {at_worst / PANEL_MS:.2f} |")
    middle = median(median(one) for one in times.values())
    lines += [f"| median of all queries | {PANEL_MS} ms | {middle:.1f} ms | {middle / PANEL_MS:.3f} |", ""]
    lines += ["| table | rows | size | indexes |", "|---|---|---|---|", *_sizes(place), ""]
    lines += ["| the ten slowest queries | ms |", "|---|---|"]
    ordered = sorted(times, key=lambda question: -median(times[question]))
    lines += [f"| {question.name} | {median(times[question]):.1f} |" for question in ordered[:10]]
    lines += ["", f"Plan of the slowest query, {slowest.name}:", "", "```", plan, "```", ""]
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines))
    print(f"slowest: {slowest.name}, {at_worst:.1f} ms; {file}")


def _sizes(place: StoreDirectory) -> list[str]:
    lines = []
    with connected(place.url()) as connection:
        for table in TABLES:
            row = connection.execute(
                f"SELECT count(*), pg_size_pretty(pg_total_relation_size('testbed.{table}')), "
                f"pg_size_pretty(pg_indexes_size('testbed.{table}')) FROM testbed.{table}".encode()
            ).fetchone()
            assert row is not None
            lines.append(f"| {table} | {row[0]:,} | {row[1]} | {row[2]} |".replace(",", "\u202f"))
    return lines


def _machine() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    return f"{model}, {len(models)} cores, Linux {platform.release()}, shared with other work"
