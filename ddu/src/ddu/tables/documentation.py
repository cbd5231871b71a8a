# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/metrics.md, made from the declarations.

`python -m ddu.tables.documentation docs/metrics.md` writes them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ddu.console.problems import RefusedError
from ddu.console.suggestions import unknown
from ddu.metrics.catalogue import metrics, summary_metrics
from ddu.metrics.metric import BinMetric, SummaryMetric
from ddu.schema.columns import rates, source_columns

_GENERATED = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def documented(text: str) -> str:
    """Return the document with each table between its marks as the declarations have it."""

    def table(match: re.Match[str]) -> str:
        if match[2] not in _TABLES:
            raise RefusedError(unknown("table", match[2], _TABLES))
        return match[1] + "\n".join(_TABLES[match[2]]()) + "\n" + match[3]

    return _GENERATED.sub(table, text)


def _on_bins() -> Iterator[str]:
    yield from _head("column", "unit", "from", "decimals in CSV", "definition")
    for metric in metrics():
        if isinstance(metric, BinMetric):
            digits = "" if metric.csv_digits is None else str(metric.csv_digits)
            yield _row(f"`{metric.name}`", metric.unit, _needs(metric), digits, _meaning(metric))


def _summary() -> Iterator[str]:
    yield from _head("key", "unit", "of", "from", "definition")
    for metric in summary_metrics():
        if metric.of_run or metric.of_flow:
            scopes = [name for name, of in (("run", metric.of_run), ("flow", metric.of_flow)) if of]
            key = f"`{metric.name}`" + (f": {', '.join(metric.parts)}" if metric.parts else "")
            unit = metric.unit if metric.is_number else "text"
            yield _row(key, unit, ", ".join(scopes), _needs(metric), _meaning(metric))


def _flows() -> Iterator[str]:
    yield from _head("column", "unit", "from", "definition")
    for metric in summary_metrics():
        if metric.of_table:
            yield _row(f"`{metric.name}`", metric.unit, _needs(metric), _meaning(metric))


def _rates_and_timing() -> Iterator[str]:
    yield from _head("column", "unit", "definition")
    for column in (*source_columns("mac"), *source_columns("link")):
        if column.name in rates() or column in source_columns("link"):
            yield _row(f"`{column.name}`", column.unit, column.definition)


def _needs(metric: BinMetric | SummaryMetric) -> str:
    return ", ".join(need.value for need in metric.needs)


def _meaning(metric: BinMetric | SummaryMetric) -> str:
    return f"{metric.definition}; {metric.details}" if metric.details else metric.definition


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield "|" + "---|" * len(titles)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


_TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "bins": _on_bins,
    "summary": _summary,
    "flows": _flows,
    "rates-and-timing": _rates_and_timing,
}

if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(documented(document.read_text(encoding="utf-8")), encoding="utf-8")
