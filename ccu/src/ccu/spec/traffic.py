# SPDX-License-Identifier: Apache-2.0
"""A flow's traffic as people write it, and the kinds that declare it, found by entry points.

A kind is named in the group `ccu.traffic` of its package's metadata, so that it may come from any
package (docs/extending.md). It is written KIND or KIND:SPEC.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from ccu.spec.testbed import Value
from ddu.console.extensions import extensions, incomplete
from ddu.console.problems import InvalidValue, invalid
from ddu.console.suggestions import unknown

GROUP = "ccu.traffic"


class TrafficOptions(Value):
    """The traffic of a flow. A kind declares a subclass, which narrows `kind` to its own names."""

    chosen_by_default: ClassVar[bool] = False
    """It is the traffic of an experiment that names none."""
    example: ClassVar[str] = ""
    """It as people write it, for messages; none: the kind's name."""

    kind: str

    @classmethod
    def read(cls, spec: str) -> dict[str, object]:
        """Return the fields that SPEC means; empty: nothing is written. Raises InvalidValue."""
        if spec:
            raise invalid(f"{spec!r}: this kind of traffic takes no values", "leave it out")
        return {}

    @property
    def spec(self) -> str:
        """SPEC, as people write it."""
        return ""

    @property
    def own_ccs(self) -> tuple[str, ...] | None:
        """The congestion controls that its flows may name, the default first.

        None: the flows are TCP of the hosts' kernels, with any congestion control of theirs.
        """
        return None

    @property
    def file(self) -> str | None:
        """The file of the user's that makes it, as it was written; None: there is none."""
        return None

    @property
    def offered_bps(self) -> float | None:
        """The payload that each flow offers, bit/s; None: as much as the link carries."""
        return None

    @property
    def most_bytes(self) -> int | None:
        """The payload after which each flow ends; None: flows end with the run."""
        return None

    def __str__(self) -> str:
        return f"{self.kind}:{self.spec}" if self.spec else self.kind


@cache
def kinds() -> dict[str, Any]:
    """Return every kind's driver (`ccu.traffic.TrafficDriver`) by its name."""
    return dict(extensions(GROUP))


def default() -> TrafficOptions:
    """Return the traffic of an experiment that names none. Raises RefusedError."""
    for name, one in kinds().items():
        if one.options.chosen_by_default:
            return validated({"kind": name})
    raise incomplete(GROUP)


def options_of(kind: str) -> type[TrafficOptions]:
    """Return the options of a kind. Raises InvalidValue if there is no such kind."""
    if kind not in kinds():
        raise InvalidValue(unknown("kind of traffic", kind, kinds(), "see `ccu list traffic`"))
    options: type[TrafficOptions] = kinds()[kind].options
    return options


def read(written: object) -> object:
    """Return the fields that `KIND` or `KIND:SPEC` means; a mapping as it is."""
    if isinstance(written, dict):
        return written
    kind, _, spec = str(written).strip().partition(":")
    return {"kind": kind, **options_of(kind).read(spec)}


def validated(given: Any) -> TrafficOptions:
    """Return the options that a mapping with `kind` means. Raises ValueError."""
    if isinstance(given, TrafficOptions):
        return given
    if not isinstance(given, Mapping):
        given = read(given)
    assert isinstance(given, Mapping)
    kind = str(given.get("kind") or default().kind)
    # Older records have null for what belongs to other kinds.
    said = {key: value for key, value in given.items() if value is not None}
    options = options_of(kind)
    for key in said:
        if key not in options.model_fields:
            known = ", ".join(options.model_fields)
            raise invalid(f"the traffic {kind} has no {key}", f"there are {known}")
    return options.model_validate({**said, "kind": kind})


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a traffic as resolved files have it."""
    return {"anyOf": [one.options.model_json_schema() for one in kinds().values()]}
