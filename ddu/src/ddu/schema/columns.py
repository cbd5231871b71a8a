# SPDX-License-Identifier: Apache-2.0
"""Units and definitions of columns, from columns.yaml beside this file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    import pandas as pd

TABLES = {
    "aligned": ("time", "flow", "transport", "sockets_on_bins", "mac", "phone", "link"),
    "transport": ("time", "flow", "transport"),
    "mac": ("time", "mac", "phone"),
    "flows": ("flow", "flows", "addresses"),
    "sockets": ("time", "addresses", "sockets"),
    "cc": ("time",),
    "events": ("time", "events"),
    "delay_cdf": ("flow", "distribution"),
    "iperf3": ("time", "flow", "iperf3"),
    "oai_l1": ("time", "log", "l1"),
    "oai_rrc": ("time", "log", "rrc"),
    "oai_ue": ("time", "log", "ue_log", "mac"),
    "oai_o1": ("time", "log", "o1"),
}
"""The parts of columns.yaml that each table is made of."""

KERNEL = "the kernel's own word, by its name in struct tcp_info or inet_diag with a unit"
OWN_WORDS = "the congestion control's own word (docs/run-directory.md)"


@dataclass(frozen=True)
class Column:
    """A column; `unit` is "1" for what has none, "" where nothing tells it."""

    name: str
    unit: str
    definition: str


def columns_of(table: str) -> list[Column]:
    """The columns that a table may have, {way} and {n} as they stand in columns.yaml.

    Raises KeyError for a table that there is not.
    """
    return [
        Column(name, _unit(name, entry), _definition(entry))
        for part in TABLES[table]
        for name, entry in _content()[part].items()
    ]


def column(name: str, table: str = "aligned") -> Column | None:
    """The column of this name; None if no definition is known."""
    for pattern, known in _patterns(table):
        found = pattern.fullmatch(name)
        if found:
            text = known.definition
            for key, value in found.groupdict().items():
                text = text.replace(f"{{{key}}}", value)
            return Column(name, known.unit, text)
    if table == "sockets":
        return Column(name, _unit(name, {}), KERNEL)
    if name.startswith("cc_") or table == "cc":
        return Column(name, _unit(name, {}), OWN_WORDS)
    return None


def written_names(table: str) -> list[str]:
    """The names of its columns with what stands for a way written out."""
    names = (each.name for each in columns_of(table))
    return list(dict.fromkeys(name.replace("{way}", way) for name in names for way in ("dl", "ul")))


def described(table: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """The columns that a table has: name, type, unit, definition, how many values are null."""
    rows = []
    for each in map(str, table.columns):
        found = column(each, name) or Column(each, _unit(each, {}), "")
        rows.append(
            {
                "name": each,
                "type": str(table[each].dtype),
                "unit": found.unit,
                "definition": found.definition,
                "null_count": int(table[each].isna().sum()),
            }
        )
    return rows


@lru_cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(
        files("ddu.schema").joinpath("columns.yaml").read_text(encoding="utf-8")
    )
    return content


@lru_cache
def _patterns(table: str) -> list[tuple[re.Pattern[str], Column]]:
    return [(_pattern(known.name), known) for known in columns_of(table)]


def _pattern(name: str) -> re.Pattern[str]:
    named = re.escape(name).replace(r"\{way\}", "(?P<way>dl|ul)").replace(r"\{n\}", r"(?P<n>\d+)")
    return re.compile(named)


def _unit(name: str, entry: dict[str, Any]) -> str:
    if "unit" in entry:
        return str(entry["unit"])
    units: dict[str, str] = _content()["units"]
    fitting = [suffix for suffix in units if name.endswith(suffix)]
    return units[max(fitting, key=len)] if fitting else ""


def _definition(entry: dict[str, Any]) -> str:
    return str(entry["is"])
