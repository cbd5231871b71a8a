# SPDX-License-Identifier: Apache-2.0
"""A dashboard of panels: title, variables, time axis, links to the other dashboards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import dashboard as model

from boards import sql
from boards.names import TAG, UID
from boards.panels import SOURCE, Panel

RELATIVE = ("1970-01-01T00:00:00.000Z", "1970-01-01T00:01:40.000Z")
"""Runs share a relative axis in 1970: 00:00:00 is the first payload packet of each run."""


def board(
    name: str, title: str, about: str, panels: Sequence[Panel | str], variables: Sequence[Any], *,
    time: tuple[str, str] = RELATIVE, refresh: str = "",
) -> build.Dashboard:  # fmt: skip
    """Lay out the panels from left to right and top to bottom; a string starts a row with this title."""
    made = (
        build.Dashboard(title)
        .uid(UID[name])
        .description(about)
        .tags([TAG])
        .timezone("utc")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .time(*time)
        .refresh(refresh)
        .readonly()
        .links([_others()])
        .variables(list(variables))
    )
    for number, panel in enumerate(panels, 1):
        if isinstance(panel, str):
            made.with_row(build.Row(panel).id(number))
        else:
            made.with_panel(panel.id(number))
    return made


def chosen(name: str, label: str, sql: str, about: str, *, many: bool = False) -> build.QueryVariable:
    """Return a variable whose values come from the store; with `many`, several can be chosen (default: all).

    The query returns __text and __value, or one column that serves as both.
    """
    variable = (
        build.QueryVariable(name)
        .label(label)
        .description(about)
        .datasource(SOURCE)
        .query(sql)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.DISABLED)
        .multi(many)
        .include_all(many)
    )
    if many:
        variable.current(model.VariableOption(selected=True, text=["All"], value=["$__all"]))
    return variable


def files() -> build.TextBoxVariable:
    """Return the variable with the address at which `ddu serve` serves the run directories."""
    return (
        build.TextBoxVariable("files")
        .label("Files")
        .description("Address of `ddu serve`, which serves reports and CSV files.")
        .default_value("http://127.0.0.1:8090")
    )


def one_run(condition: str = "", note: str = "") -> build.QueryVariable:
    """Return the variable `run`; its value is the run's number in the store."""
    query = (
        "SELECT name AS __text, run_id::text AS __value FROM testbed.run "
        f"WHERE state = 'published' AND start_utc_ns IS NOT NULL{condition} "
        f"ORDER BY {sql.MADE} DESC LIMIT 2000"
    )
    return chosen("run", "Run", query, f"Newest first{note}.")


def _others() -> build.DashboardLink:
    return (
        build.DashboardLink("Testbed")
        .type(model.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(True)
        .tooltip("Other dashboards")
        .include_vars(False)
        .keep_time(False)
    )
