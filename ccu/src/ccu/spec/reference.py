# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/experiment.md, derived from the options' declarations.

`python -m ccu.spec.reference docs/experiment.md` writes them into the file again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ccu.spec.experiment import Experiment
from ccu.spec.keys import options
from ccu.spec.option import Written, written
from ccu.spec.radio import ShortForms
from ccu.spec.schema import plain_schemas
from ccu.spec.testbed import every_options, testbeds_with

_BEGIN, _END = "<!-- options: python -m ccu.spec.reference -->", "<!-- end of options -->"
_HEAD = ("| YAML key | Flag | Value | Default | Meaning |", "|---|---|---|---|---|")


def tables() -> str:
    """Return a table of every testbed's options, and one for each driver that has its own."""
    plain = plain_schemas(Experiment, {}) | plain_schemas(ShortForms, {})
    plain["cc"] = {"type": "string"}
    blocks = [[*_HEAD, *(_row(one, plain[one.name]) for one in options())]]
    for of_testbed in every_options():
        if rows := list(_rows(of_testbed)):
            testbeds = " or ".join(f"`{name}`" for name in testbeds_with(of_testbed))
            blocks.append([f"Only with testbed {testbeds}:", "", *_HEAD, *rows])
    return "\n\n".join("\n".join(block) for block in blocks)


def in_step(page: str) -> str:
    """Return the page with the tables of today between its two marks."""
    pattern = re.compile(f"{re.escape(_BEGIN)}.*{re.escape(_END)}", re.DOTALL)
    return pattern.sub(lambda _: f"{_BEGIN}\n{tables()}\n\n{_END}", page)


def _rows(model: type[Any]) -> Iterator[str]:
    plain = plain_schemas(model, {})
    for field in written(model):
        yield _row(field, plain[field.name])


def _row(field: Written, plain: dict[str, Any]) -> str:
    flags = ", ".join(f"`{flag}`" for flag in field.flags)
    default = f"`{field.default}`" if field.default else ""
    if field.default and field.default == field.option.unset:
        default = field.default
    cells = (f"`{field.key}`", flags, _value(field, plain), default, field.option.help)
    return f"| {' | '.join(cells)} |"


def _value(field: Written, plain: dict[str, Any]) -> str:
    """Return what may be written: an example of a text that is read, else type and limits."""
    if field.name == "testbed":
        return "name"
    if field.option.pairs:
        return "mapping, such as `{{{}: {}}}`".format(*field.option.example.split("="))
    if field.option.read is not None:
        if field.option.example:
            return f"such as `{field.option.example}`"
        return f"such as `{field.default}`"
    if "$ref" in plain or ("anyOf" in plain and any("$ref" in one for one in plain["anyOf"])):
        return "mapping"
    kinds = [one for one in plain.get("anyOf", [plain]) if one.get("type") != "null"]
    return " or ".join(_kind(one) for one in kinds)


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    names = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`"}
    return names.get(str(schema.get("type")), "text") + _limits(schema)


def _limits(schema: dict[str, Any]) -> str:
    words = {"minimum": "from", "exclusiveMinimum": "above"}
    words |= {"maximum": "to", "exclusiveMaximum": "below"}
    limits = [f"{word} {_number(schema[key])}" for key, word in words.items() if key in schema]
    return f", {' '.join(limits)}" if limits else ""


def _number(limit: float) -> str:
    return "2^63" if limit == 2**63 else f"{limit:g}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(in_step(file.read_text()))
