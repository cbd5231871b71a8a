# SPDX-License-Identifier: Apache-2.0
"""Changes during a run: from an instant on, one key of the experiment has another value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from ccu.spec import units
from ccu.spec.testbed import Value
from ddu.console.problems import InvalidValue, invalid

_FORM = "write TIME:KEY=VALUE, for example 20s:cc=bbr"
_WRITTEN = re.compile(r"([^:=]+):([^:=]+)=(.+)", re.DOTALL)


class Change(Value):
    """A key, as people write it, with the value that it has from `at_s` seconds of traffic on."""

    at_s: Annotated[float, Field(gt=0)]
    key: Annotated[str, Field(min_length=1)]
    value: Any

    @property
    def parameter(self) -> str | None:
        """The name of the congestion control's parameter that changes; None: another key does."""
        return self.key.removeprefix("cc_params.") if self.key.startswith("cc_params.") else None

    def __str__(self) -> str:
        return f"{self.at_s:g}s:{self.key}={self.value}"


def read(written: object) -> object:
    """Return the changes in order of time, of `20s:cc=bbr`, `{at: 20s, cc: bbr}`, or a list."""
    if not isinstance(written, (list, tuple)):
        written = [written]
    changes = [change for one in written for change in _read_one(one)]
    return sorted(changes, key=lambda change: change["at_s"])


def _read_one(written: object) -> Iterator[dict[str, Any]]:
    if isinstance(written, Mapping):
        yield from _of_mapping({str(key): value for key, value in written.items()})
        return
    match = _WRITTEN.fullmatch(str(written).strip())
    if match is None:
        raise invalid(f"{written!r} is not a change", _FORM)
    yield {"at_s": _at_s(match[1]), "key": match[2].strip(), "value": match[3].strip()}


def _of_mapping(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a change for each key beside `at`; one as run.json has it is itself."""
    if written.keys() == Change.model_fields.keys():
        at_s = written["at_s"]
        yield written if isinstance(at_s, (int, float)) else {**written, "at_s": _at_s(at_s)}
        return
    if "at" not in written:
        raise invalid(f"{written!r} does not say when", "write for example {at: 20s, cc: bbr}")
    at_s = _at_s(written.pop("at"))
    parameters = written.pop("cc_params", {})
    if not isinstance(parameters, Mapping):
        raise invalid(f"cc_params is {parameters!r}", "write for example cc_params: {dtt: 40ms}")
    for key, value in [*written.items(), *((f"cc_params.{k}", v) for k, v in parameters.items())]:
        yield {"at_s": at_s, "key": key, "value": value}


def _at_s(written: object) -> float:
    try:
        at_s = units.seconds(written)
    except InvalidValue:
        raise invalid(f"{written!r} is not a time", _FORM) from None
    if at_s <= 0:
        rule = f"{written} is not after the start of the traffic"
        raise invalid(rule, "write a time above 0, or give the experiment the value itself")
    return at_s
