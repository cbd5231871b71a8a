# SPDX-License-Identifier: Apache-2.0
"""One colour per congestion control, in every figure: Okabe and Ito's colour-blind-safe set."""

from __future__ import annotations

from collections.abc import Mapping

INK, MUTED, GRID = "#1b1f24", "#667080", "#e3e6ea"
RADIO = "#4d4d4d"
_OF_CC = {
    "reminis": "#d55e00",
    "cubic": "#0072b2",
    "bbr": "#009e73",
    "reno": "#cc79a7",
    "vegas": "#e69f00",
    "yeah": "#56b4e9",
}
DARK = {
    INK: "#e6e9ee", MUTED: "#9aa5b1", GRID: "#2c333c", RADIO: "#b9c1cb", "white": "#171c22",
    _OF_CC["cubic"]: "#4aa8e0",
}  # fmt: skip
"""Their counterparts on a dark page."""
THEME = {INK: "@ink", MUTED: "@muted", GRID: "@line", RADIO: "@radio",
         _OF_CC["cubic"]: "@blue"}  # fmt: skip
"""Colours that follow a page's theme, light or dark, and the name of each there."""

_OTHERS = ("#7a5195", "#8c6d31", "#1f77b4", "#17becf", "#bc5090", "#637939")


def colour_of(cc: str) -> str:
    """Return the colour of a congestion control; the same in every run, figure and dashboard."""
    return _OF_CC.get(cc) or _OTHERS[sum(cc.encode()) % len(_OTHERS)]


def colours_of(labels: list[str]) -> dict[str, str]:
    """Return a colour for each label: that of the congestion control if all labels are known ones,
    else distinct colours in order."""
    if all(label in _OF_CC for label in labels):
        return {label: _OF_CC[label] for label in labels}
    return dict(zip(labels, sequence(len(labels)), strict=True))


def colours_of_flows(ccs: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each flow: that of its congestion control, unless an earlier flow has
    it; then one that no flow has, as long as there are some.

    `ccs`: the congestion control of each flow.
    """
    colours: dict[str, str] = {}
    spare = [one for one in (*_OF_CC.values(), *_OTHERS) if one not in map(colour_of, ccs.values())]
    for flow, cc in ccs.items():
        own = colour_of(cc)
        colours[flow] = own if own not in colours.values() or not spare else spare.pop(0)
    return colours


def sequence(count: int) -> list[str]:
    """Return colours for levels of something other than congestion controls, in their order."""
    colours = [*_OF_CC.values(), *_OTHERS]
    return [colours[number % len(colours)] for number in range(count)]


DASHES = ("solid", "dash", "dot", "dashdot")
"""Dashes by order among flows of the same colour, where there are more flows than colours."""
