# SPDX-License-Identifier: Apache-2.0
"""The style of panels: colours, thresholds, texts for values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafana_foundation_sdk.builders import common
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Threshold, ThresholdsMode

from boards.names import CONGESTION_CONTROLS, DELAY_CLASSES_MS
from ddu.report.palette import colour_of

OK, WARN, LATE, BAD = "#1b8f5e", "#b07a00", "#d0601f", "#d9433b"
"""Levels from good to bad. A colour here serves both themes of Grafana: its contrast to the ground of light and dark
panels is more than 3 (WCAG 2.2, 1.4.11), which the report's colours do not have in the dark."""
NEUTRAL = "#808890"
"""Lines and bars that belong to no congestion control."""
TEXT = "text"
"""Grafana's name for the theme's own colour of text."""
DELAY_LEVELS: Sequence[tuple[float | None, str]] = [(None, OK), *zip(DELAY_CLASSES_MS, (WARN, LATE, BAD), strict=True)]
"""The colour of a delay from each limit of application classes on."""
VERDICTS = {"valid": OK, "degraded": WARN, "invalid": BAD, "failed": BAD}


class Mapping:
    """Texts and colours for values."""

    def __init__(self, kind: str, options: object) -> None:
        self._json = {"type": kind, "options": options}

    def to_json(self) -> dict[str, object]:
        return self._json


def verdict_words() -> list[Any]:
    """Return the colours of verdicts."""
    return [Mapping("value", {
        verdict: {"color": colour, "index": index} for index, (verdict, colour) in enumerate(VERDICTS.items())
    })]  # fmt: skip


def coloured(panel: Any, colours: dict[str, str] | None) -> Any:
    """Give each congestion control its colour, as in the report."""
    if colours is None:
        for cc in CONGESTION_CONTROLS:
            panel.override_by_regexp(f"/^(.* )?{cc}( .*)?$/", [fixed(colour_of(cc))])
        return panel
    for name, colour in colours.items():
        panel.override_by_regexp(f"/^{name}( .*)?$/", [fixed(colour)])
    return panel


def fixed(colour: str) -> DynamicConfigValue:
    return value("color", {"mode": "fixed", "fixedColor": colour})


def value(key: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=key, value=value)


def legend() -> common.VizLegendOptions:
    return (
        common.VizLegendOptions()
        .display_mode(looks.LegendDisplayMode.LIST)
        .placement(looks.LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs([])
    )


def steps(steps: Sequence[tuple[float | None, str]]) -> ThresholdsConfig:
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(
        [Threshold(value=value, color=colour) for value, colour in steps]
    )  # fmt: skip
