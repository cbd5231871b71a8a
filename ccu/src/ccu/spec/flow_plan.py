# SPDX-License-Identifier: Apache-2.0
"""A flow of an experiment: its congestion control, start, UE and traffic."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from ccu.spec import traffic as kinds
from ccu.spec.testbed import Value
from ccu.spec.traffic import TrafficOptions
from ddu.console.problems import invalid


def _name_of_a_cc(written: str) -> str:
    """TCP_CA_NAME_MAX of Linux is 16 bytes, the last of them 0."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,15}", written):
        rule = f"{written!r} is not a valid name of a congestion control"
        fix = (
            "see `ccu list cc`; a file of your own needs a name of 1 to 15 letters, digits, - or _"
        )
        raise invalid(rule, fix)
    return written


def is_cc_file(written: str) -> bool:
    """Return whether `written` names a file, and not a congestion control: no name has a / or a
    dot."""
    return bool(re.search(r"[/.]", written))


class FlowPlan(Value):
    """One flow each way that the direction has, from `start_s` to the end of the run."""

    cc: Annotated[str, AfterValidator(_name_of_a_cc)]
    start_s: Annotated[float, Field(ge=0)] = 0.0
    ue: Annotated[int, Field(ge=1)] | None = None
    """The number of the UE that has it, from 1; None: flows take turns."""
    cc_file: str | None = None
    """The file that `cc` is made of and named after; None: the kernel or the project has it."""
    traffic: SerializeAsAny[TrafficOptions] | None = None
    """The traffic that it sends, after which `cc` is named; None: that of all flows."""

    @model_validator(mode="before")
    @classmethod
    def _name_after_its_file(cls, given: Any) -> Any:
        written = given.get("cc") if isinstance(given, dict) else None
        if not isinstance(written, str):
            return given
        for kind in kinds.kinds().keys() & given.keys():  # As run.json has it.
            given = {**given, "traffic": kinds.validated(f"{kind}:{given[kind]}")}
            del given[kind]
        if ":" in written:
            traffic = kinds.validated(written)
            return {**given, "cc": _name_of_flows(traffic), "traffic": traffic}
        if not is_cc_file(written):
            return given
        return {**given, "cc": PurePath(written).name.partition(".")[0], "cc_file": written}

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        own = {} if self.traffic is None else {self.traffic.kind: self.traffic.spec}
        content.pop("traffic", None)
        return {key: value for key, value in content.items() if key != "cc_file" or value} | own

    def __str__(self) -> str:
        return f"flow {self.cc}@{self.start_s:g}"


def _name_of_flows(traffic: TrafficOptions) -> str:
    """Return what stands for the congestion control of a flow with traffic of its own."""
    if traffic.own_ccs is None:
        raise invalid(
            f"{traffic} names no congestion control", "write it as the traffic, and CC@SECONDS here"
        )
    return traffic.own_ccs[0]
