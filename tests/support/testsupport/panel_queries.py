# SPDX-License-Identifier: Apache-2.0
"""The queries that Grafana would send to the store, for tests and benchmarks without Grafana.

Variables and macros are replaced as in Grafana's documentation: "Variable syntax" for
`:sqlstring`, and "Macros" of the PostgreSQL data source. Forms that no dashboard uses are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

GENERATED = Path(__file__).parents[3] / "dashboards" / "generated"


@dataclass(frozen=True)
class Range:
    """The time axis in UNIX seconds, and the milliseconds per point."""

    start_s: float = 0
    end_s: float = 100
    interval_ms: int = 100


@dataclass(frozen=True)
class Question:
    """One query of one panel."""

    dashboard: str
    panel: dict[str, Any] = field(hash=False)
    sql: str

    @property
    def name(self) -> str:
        return f"{self.dashboard}: {self.panel['title']}"


class Board:
    """A dashboard as provisioned."""

    def __init__(self, file: Path) -> None:
        self.name = file.stem
        self.json: dict[str, Any] = json.loads(file.read_text())

    @property
    def panels(self) -> Iterator[dict[str, Any]]:
        """Yield the panels in order, including those in rows."""
        for panel in self.json["panels"]:
            if panel["type"] == "row":
                yield from panel.get("panels") or []
            else:
                yield panel

    @property
    def questions(self) -> list[Question]:
        return [
            Question(self.name, panel, target["rawSql"])
            for panel in self.panels
            for target in panel["targets"]
        ]

    @property
    def variables(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.json["templating"]["list"]
        return listed

    def values(self, connection: Any, fixed: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return the possible values of each variable, in order.

        Later variables depend on earlier ones: on the `fixed` value, else on all values of a
        multi-value variable, or on the first of a single-value one."""
        by_name: dict[str, list[str]] = {}
        chosen = dict(fixed)
        for variable in self.variables:
            if variable["type"] == "textbox":
                by_name[variable["name"]] = [variable["query"]]
                continue
            query = interpolated(variable["query"], chosen, Range())
            rows = connection.execute(query.encode()).fetchall()
            # Columns __text and __value, or one column that serves as both.
            values = [str(row[-1]) for row in rows]
            by_name[variable["name"]] = values
            chosen.setdefault(variable["name"], values if variable.get("multi") else values[:1])
        return {**by_name, **fixed}


def boards() -> list[Board]:
    """Return all dashboards, sorted by title."""
    return sorted(map(Board, GENERATED.glob("*.json")), key=lambda board: str(board.json["title"]))


def interpolated(sql: str, values: dict[str, list[str]], over: Range) -> str:
    """Return the query as PostgreSQL gets it. Raises KeyError for an undefined variable."""

    def quoted(match: re.Match[str]) -> str:
        return ",".join("'" + value.replace("'", "''") + "'" for value in values[match[1]]) or "''"

    def instant(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("'%Y-%m-%dT%H:%M:%S.%fZ'")

    between = f"BETWEEN {instant(over.start_s)} AND {instant(over.end_s)}"
    sql = re.sub(r"\$__timeFilter\(([^)]*)\)", lambda match: f"{match[1]} {between}", sql)
    sql = sql.replace("$__unixEpochFrom()", str(int(over.start_s)))
    sql = sql.replace("$__unixEpochTo()", str(int(over.end_s)))
    sql = sql.replace("$__interval_ms", str(over.interval_ms))
    # Last, so that a macro inside a value is not replaced.
    if re.search(r"\$\{(?!\w+:sqlstring\})|\$__", sql):
        raise ValueError(f"unknown macro or form of a variable in: {sql}")
    return re.sub(r"\$\{(\w+):sqlstring\}", quoted, sql)


def selections(board: Board, connection: Any) -> Iterator[dict[str, list[str]]]:
    """Yield every value of every variable: single-value variables in turn, others all at once and
    one by one.

    Variables that depend on a chosen one have the values that remain.
    """
    everything = board.values(connection, {})
    yield from _each_single(board, connection, {})
    for variable in board.variables:
        if variable.get("multi"):
            for value in everything[variable["name"]]:
                yield from _each_single(board, connection, {variable["name"]: [value]})


def _each_single(
    board: Board, connection: Any, fixed: dict[str, list[str]]
) -> Iterator[dict[str, list[str]]]:
    values = board.values(connection, fixed)
    single = [
        one["name"]
        for one in board.variables
        if not one.get("multi") and len(values[one["name"]]) > 1
    ]
    if not single:
        yield values
        return
    name = single[0]
    for value in values[name]:
        yield from _each_single(board, connection, {**fixed, name: [value]})
