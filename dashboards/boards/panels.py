# SPDX-License-Identifier: Apache-2.0
"""The kinds of panels, with consistent units, colours, thresholds and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafana_foundation_sdk.builders import (
    barchart,
    common,
    heatmap,
    stat,
    statetimeline,
    table,
    timeseries,
    xychart,
)
from grafana_foundation_sdk.cog import builder, variants
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models import xychart as xy
from grafana_foundation_sdk.models.dashboard import DataSourceRef, DataTransformerConfig

from boards.names import STORE
from boards.style import DELAY_LEVELS, TEXT, Mapping, coloured, legend, steps, value, verdict_words

Panel = Any
"""A builder of the SDK; the builders of different kinds have no common class."""

COLUMN_PX, RUN_PX = 92, 280
"""Least widths of a table's columns, in which `throughput` fits as a title, and of the one with a run's name."""

SOURCE = DataSourceRef(type_val=STORE["type"], uid=STORE["uid"])


class Query(variants.Dataquery, builder.Builder["Query"]):
    """A query of the PostgreSQL data source, for which the SDK has no class."""

    def __init__(self, sql: str, form: str = "time_series", ref: str = "A") -> None:
        self.sql, self.form, self.ref_id = sql, form, ref

    def build(self) -> Query:
        return self

    def to_json(self) -> dict[str, Any]:
        return {
            "datasource": STORE,
            "editorMode": "code",
            "format": self.form,
            "rawQuery": True,
            "rawSql": self.sql,
            "refId": self.ref_id,
        }


def series(
    title: str, unit: str, sql: str, about: str, *, delay: bool = False, counts: bool = False, dots: str = "",
    least: float | None = 0, most: float | None = None, width: int = 24, height: int = 6,
    colours: dict[str, str] | None = None, step: str = "20ms",
) -> Panel:  # fmt: skip
    """Return lines over time, or bars (`counts`); the series called `dots` is drawn as such, since a line leaves values
    out that stand alone. `delay` draws the limits of application classes."""
    panel = (
        about_panel(timeseries.Panel(), title, about, width, height)
        .with_target(Query(sql))
        .unit(unit)
        .interval(step)
        .line_width(1)
        .fill_opacity(0)
        .show_points(looks.VisibilityMode.NEVER)
        .tooltip(common.VizTooltipOptions().mode(looks.TooltipDisplayMode.MULTI))
        .legend(legend())
        .thresholds(steps(DELAY_LEVELS if delay else [(None, TEXT)]))
    )
    if delay:
        dashed = looks.GraphThresholdsStyleMode.DASHED
        panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(dashed))
    if counts:
        panel.draw_style(looks.GraphDrawStyle.BARS).fill_opacity(100)
    if dots:
        points = [value("custom.drawStyle", "points"), value("custom.pointSize", 4)]
        panel.override_by_regexp(f"/^{dots}( .*)?$/", points)
    if least is not None:
        panel.min(least)
    if most is not None:
        panel.max(most)
    return coloured(panel, colours)


def number(
    title: str, unit: str, sql: str, about: str, *, width: int = 4, height: int = 4,
    levels: Sequence[tuple[float | None, str]] = ((None, TEXT),), decimals: float | None = None,
    words: bool = False, of_verdict: bool = False,
) -> Panel:  # fmt: skip
    """Return a panel with one number, or with one text (`words`)."""
    fields = "/.*/" if words else ""
    panel = (
        about_panel(stat.Panel(), title, about, width, height)
        .with_target(Query(sql, "table"))
        .unit(unit)
        .graph_mode(looks.BigValueGraphMode.NONE)
        .color_mode(looks.BigValueColorMode.VALUE)
        .text_mode(looks.BigValueTextMode.VALUE)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).fields(fields))
        .thresholds(steps(levels))
        .no_value("not measured")
    )
    if decimals is not None:
        panel.decimals(decimals)
    if of_verdict:
        panel.mappings(verdict_words())
    return panel


def listing(
    title: str, sql: str, about: str, *, unit: str = "none", units: dict[str, str] | None = None,
    links: dict[str, tuple[str, str]] | None = None, hidden: Sequence[str] = (), wide: dict[str, int] | None = None,
    width: int = 24, height: int = 8, filterable: bool = False, transform: Sequence[DataTransformerConfig] = (),
) -> Panel:  # fmt: skip
    """Return a table; by column: `units` other than `unit`, `links` (title, URL), and the least width of `wide` ones
    in pixels. The others share what is left; what does not fit is reached by scrolling: important ones are first."""
    panel = about_panel(table.Panel(), title, about, width, height).with_target(Query(sql, "table"))
    panel.thresholds(steps([(None, TEXT)])).unit(unit).filterable(filterable).min_width(COLUMN_PX + 24 * filterable)
    panel.frame_index(0).show_header(True).cell_options(looks.TableAutoCellOptions())
    for step in transform:
        panel.with_transformation(step)
    for name, unit in (units or {}).items():
        panel.override_by_name(name, [value("unit", unit)])
    for name, (words, url) in (links or {}).items():
        link = {"title": words, "url": url, "targetBlank": False}
        panel.override_by_name(name, [value("links", [link])])
    for name, pixels in ({"run": RUN_PX} | (wide or {})).items():
        panel.override_by_name(name, [value("custom.minWidth", pixels)])
    for name in hidden:
        panel.override_by_name(name, [value("custom.hidden", True)])
    panel.override_by_name("verdict", [value("mappings", [one.to_json() for one in verdict_words()]),
                                       value("custom.cellOptions", {"type": "color-text"})])  # fmt: skip
    return panel


def against(
    title: str, x: tuple[str, str], y: tuple[str, str], sql: str, about: str, *,
    lines: bool = True, width: int = 12, height: int = 12, delay: bool = False,
) -> Panel:  # fmt: skip
    """Plot y against x, each given as (label, unit), from the columns x, y and `series`, which groups the rows."""
    show = xy.XYShowMode.LINES if lines else xy.XYShowMode.POINTS
    parts = {"fields": ["series"], "keepFields": False}
    panel = (
        about_panel(xychart.Panel(), title, about, width, height)
        .with_target(Query(sql, "table"))
        .with_transformation(DataTransformerConfig(id_val="partitionByValues", options=parts))
        .mapping(xy.SeriesMapping.AUTO)
        .series([])
        .show(show)
        .line_width(2)
        .legend(legend())
        .tooltip(common.VizTooltipOptions().mode(looks.TooltipDisplayMode.SINGLE))
        .unit(y[1])
        .axis_label(y[0])
        .thresholds(steps(DELAY_LEVELS if delay else [(None, TEXT)]))
    )
    panel.override_by_name(x[0], [value("unit", x[1]), value("custom.axisLabel", x[0])])
    return coloured(panel, None)


def heat(title: str, unit: str, sql: str, about: str, *, width: int = 12, height: int = 9) -> Panel:
    """Return a heat map of how often a value occurred over time: columns time and value; Grafana counts."""
    return (
        about_panel(heatmap.Panel(), title, about, width, height)
        .with_target(Query(sql))
        .interval("20ms")
        .calculate(True)
        .color(heatmap.HeatmapColorOptions().scheme("Viridis"))
        .y_axis(heatmap.YAxisConfig().unit(unit))
        .cell_gap(0)
    )


def bars(
    title: str, unit: str, sql: str, about: str, *, label: str, width: int = 12, height: int = 9,
    stacked: bool = False, colours: dict[str, str] | None = None,
) -> Panel:  # fmt: skip
    """Return one bar per row, labelled by the column `label`."""
    panel = (
        about_panel(barchart.Panel(), title, about, width, height)
        .with_target(Query(sql, "table"))
        .x_field(label)
        .unit(unit)
        .legend(legend())
        .min(0)
        .thresholds(steps([(None, TEXT)]))
    )
    if stacked:
        panel.stacking(looks.StackingMode.NORMAL)
    return coloured(panel, colours)


def states(
    title: str, sql: str, about: str, colours: dict[str, tuple[str, str]], *, width: int = 24,
    height: int = 5,
) -> Panel:  # fmt: skip
    """Return bands over time; `colours` has text and colour by value."""
    words = {value: {"text": text, "color": colour, "index": index}
             for index, (value, (text, colour)) in enumerate(colours.items())}  # fmt: skip
    return (
        about_panel(statetimeline.Panel(), title, about, width, height)
        .with_target(Query(sql))
        .interval("20ms")
        .unit("none")
        .show_value(looks.VisibilityMode.NEVER)
        .legend(legend())
        .mappings([Mapping("value", words)])
        .thresholds(steps([(None, TEXT)]))
    )


def about_panel(panel: Panel, title: str, about: str, width: int, height: int) -> Panel:
    return panel.title(title).description(about).datasource(SOURCE).span(width).height(height)
