# SPDX-License-Identifier: Apache-2.0
"""One colour per congestion control, in every figure: Okabe and Ito's colour-blind-safe set."""

from __future__ import annotations

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
_OTHERS = ("#7a5195", "#8c6d31", "#1f77b4", "#17becf", "#bc5090", "#637939")

VERDICT = {"valid": "#00704f", "degraded": "#9a5b00", "invalid": "#b3261e"}


def colour_of(cc: str) -> str:
    """Return the colour of a congestion control; the same in every run, figure and dashboard."""
    return _OF_CC.get(cc) or _OTHERS[sum(cc.encode()) % len(_OTHERS)]


def colours_of(labels: list[str]) -> dict[str, str]:
    """Return a colour for each label: that of the congestion control if all labels are known ones,
    else distinct colours in order."""
    if all(label in _OF_CC for label in labels):
        return {label: _OF_CC[label] for label in labels}
    return dict(zip(labels, sequence(len(labels)), strict=True))


def sequence(count: int) -> list[str]:
    """Return colours for levels of something other than congestion controls, in their order."""
    colours = [*_OF_CC.values(), *_OTHERS]
    return [colours[number % len(colours)] for number in range(count)]


DASHES = ("solid", "dash", "dot", "dashdot")
"""Dashes by order among flows of the same congestion control, which share its colour."""
