# SPDX-License-Identifier: Apache-2.0
"""Columns: name, unit, definition, label. Those that readers make are declared in columns.yaml."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from ddu.schema.units import Unit, stem, unit_of


@dataclass(frozen=True)
class Panel:
    """The panel of a column in the report's stacked figure."""

    position: int
    """Panels stand in ascending order of it."""
    total: bool = False
    """Whether the sum over flows is drawn too."""
    as_dots: bool = False
    per_flow: bool = True
    """Whether each flow has a line of its own; else there is one line, of the first flow."""
    limit: str = ""
    """The column that no value exceeds, drawn as the ground behind; a name as those of columns."""
    in_wider_bins: Literal["mean", "sum", "last"] = "mean"
    """The rule by which the values of several bins become that of a wider one."""
    weight: str = ""
    """The column that weighs the mean in wider bins: the samples of each bin; empty for time."""


@dataclass(frozen=True)
class Column:
    """A column of a table. A name may hold {direction} (dl or ul) and {n} (a number)."""

    name: str
    definition: str
    label: str = ""
    declared_unit: str = ""
    """The unit where the name's suffix does not stand for it."""
    digits: int | None = None
    """Decimals in CSV files; None to take the unit's."""
    panel: Panel | None = None

    @property
    def units(self) -> Unit:
        """The unit with its decimals and the form that people read."""
        return unit_of(self.name, self.declared_unit)

    @property
    def unit(self) -> str:
        """The unit's name; empty where it is not known."""
        return self.units.name

    @property
    def csv_digits(self) -> int | None:
        """Decimals in CSV files; None for all of them."""
        return self.units.digits if self.digits is None else self.digits

    @property
    def title(self) -> str:
        """The label; made from the name where none is declared."""
        return self.label or label_of(self.name)


def label_of(name: str) -> str:
    """Return a label for a column that declares none: `mac_dl_rlc_queue_bytes` → `DL RLC queue`."""
    words = stem(name)[0].removeprefix("tcp_").removeprefix("mac_").split("_")
    known = {"rtt", "owd", "bler", "mcs", "rsrp", "sinr", "rlc", "prb", "dl", "ul", "cdf", "mac"}
    text = " ".join(word.upper() if word in known else word for word in words)
    return text[:1].upper() + text[1:]


@lru_cache
def source_columns(part: str) -> tuple[Column, ...]:
    """Return the columns of a part of columns.yaml. Raises KeyError if it has no such part."""
    return tuple(_column(name, entry) for name, entry in _content()[part].items())


@lru_cache
def rates() -> dict[str, str]:
    """Return the byte counters of which rates are made, by the name of the rate."""
    entries = _content()["mac"].items()
    return {name: entry["rate_of"] for name, entry in entries if "rate_of" in entry}


@lru_cache
def states() -> tuple[str, ...]:
    """Return the columns that have no mean: identities, names of things, flags."""
    parts = [_content()[part] for part in ("mac", "phone")]
    return tuple(name for part in parts for name, entry in part.items() if entry.get("state"))


def _column(name: str, entry: dict[str, Any]) -> Column:
    panel = Panel(**entry["panel"], per_flow=False) if "panel" in entry else None
    if panel and entry.get("state"):
        panel = replace(panel, in_wider_bins="last")  # A state has no mean.
    return Column(name, entry["is"], entry.get("label", ""), entry.get("unit", ""), panel=panel)


@lru_cache
def _content() -> dict[str, Any]:
    text = files("ddu.schema").joinpath("columns.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return content
