# SPDX-License-Identifier: Apache-2.0
"""The fields of a line: what is known becomes columns, the rest is kept as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Values = dict[str, object]


@dataclass(frozen=True)
class Field:
    """A piece of a line: a pattern, and the columns that its match gives."""

    pattern: re.Pattern[str]
    columns: Callable[[re.Match[str]], Values]


def field(pattern: str, *names: str, scale: float | None = None) -> Field:
    """Make a field whose groups are the numbers of these columns; an unmatched one is null."""

    def columns(match: re.Match[str]) -> Values:
        return {
            name: _scaled(number(text), scale)
            for name, text in zip(names, match.groups(), strict=True)
            if text is not None
        }

    return Field(re.compile(pattern), columns)


def take(text: str, fields: Iterable[Field]) -> tuple[Values, str]:
    """Return the columns of a line, and its text without its fields, tidied.

    A field is taken once, where it first stands.
    """
    values: Values = {}
    for each in fields:
        match = each.pattern.search(text)
        if match:
            values |= each.columns(match)
            text = text[: match.start()] + " " + text[match.end() :]
    return values, tidy(text)


def number(text: str) -> float | int | None:
    """Parse a number as C prints it. `%d.%d` of a negative value, -1.-5 or 0.-5, is -1.5 or -0.5.

    None for nan and inf, which a program prints when it has no value.
    """
    whole, point, part = text.strip().replace(",", ".").partition(".")
    # A sign in the middle is that of an exponent, 1e-05.
    negative = whole.startswith("-") or part.startswith("-")
    digits = whole.lstrip("+-") + point + part.lstrip("-")
    try:
        # What no counter of 64 bits holds is kept as a float, which overflows to infinity.
        is_count = digits.isdigit() and not point and len(digits) <= 20
        size = int(digits) if is_count else float(digits)
    except ValueError:
        return None
    if size != size or size in (float("inf"), float("-inf")):
        return None
    return -size if negative else size


def tidy(text: str) -> str:
    """Return the rest of a line without the punctuation between its fields."""
    text = re.sub(r"\(\s*\)|\[\s*\]", " ", text)
    text = re.sub(r"(?:\s*[,;]\s*)+", ", ", text)
    return re.sub(r"\s+", " ", text).strip(" ,:;()[]")


def add_extra(row: Values, extra: str) -> None:
    """Add text that no column holds to that of the row."""
    if extra:
        row["extra"] = f"{row['extra']}; {extra}" if "extra" in row else extra


def rounds(direction: str, counts: str) -> Values:
    """Return the columns of HARQ's rounds, printed as `n/n/n/n`."""
    return {
        f"mac_{direction}_rounds_{index}_count": number(text)
        for index, text in enumerate(counts.split("/"), start=1)
    }


def _scaled(value: float | int | None, scale: float | None) -> float | int | None:
    return value if scale is None or value is None else value * scale
