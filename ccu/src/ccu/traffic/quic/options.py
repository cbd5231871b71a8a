# SPDX-License-Identifier: Apache-2.0
"""The words of `quic:SPEC`, joined by +, such as quic:bbr+streams=8."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ccu.host import cc_files
from ccu.spec import units
from ccu.spec.traffic import TrafficOptions
from ddu.console.problems import InvalidValue, invalid
from ddu.console.suggestions import unknown

Implementation = Literal["quinn", "aioquic"]
CONTROLS: dict[Implementation, tuple[str, ...]] = {
    "quinn": ("cubic", "newreno", "bbr"),
    "aioquic": ("newreno", "cubic"),
}
"""The congestion controls of each implementation, its default first."""
DATAGRAMS, ZERO_RTT = "datagrams", "0rtt"
_NUMBERS = {"streams": "streams", "volume": "volume_bytes", "receiver": "receiver"}
_SEPARATOR = "+"
_POLICY, _PARAMETER = ".py", "parameters"


class Quic(TrafficOptions):
    """One connection for each flow, which the flow's sender makes."""

    example: ClassVar[str] = "quic:bbr or quic:aioquic+volume=10MB"

    kind: Literal["quic"] = "quic"
    implementation: Implementation = "quinn"
    """The sender's implementation."""
    receiver: Implementation | None = None
    """The receiver's; None: the same."""
    control: str | None = None
    """The congestion control; None: the implementation's default."""
    policy: str | None = None
    """A policy (docs/congestion-controls.md) that decides in its place, as it was written."""
    parameters: tuple[str, ...] = ()
    """The policy's parameters, NAME=VALUE."""
    streams: Annotated[int, Field(ge=1, le=10_000)] = 1
    volume_bytes: Annotated[int, Field(ge=1)] | None = None
    datagrams: bool = False
    """RFC 9221, in place of streams."""
    zero_rtt: bool = False
    """A first connection is made, so that the flow's own begins with data."""

    @classmethod
    def read(cls, spec: str) -> dict[str, object]:
        fields: dict[str, object] = {}
        for word in spec.split(_SEPARATOR) if spec else ():
            for key, value in _field(word.strip()).items():
                if key == _PARAMETER:
                    value = (*fields.get(key, ()), value)  # type: ignore[misc]
                elif key in fields:
                    raise invalid(f"{spec!r} says twice what its {key} is", "write each word once")
                fields[key] = value
        return fields

    @property
    def spec(self) -> str:
        words = {
            "implementation": self.implementation if self.implementation != "quinn" else "",
            "control": self.control or "",
            "policy": self.policy or "",
            "parameters": _SEPARATOR.join(self.parameters),
            "receiver": f"receiver={self.receiver}" if self.receiver else "",
            "streams": f"streams={self.streams}" if self.streams != 1 else "",
            "volume": f"volume={self.volume_bytes}B" if self.volume_bytes else "",
            "datagrams": DATAGRAMS if self.datagrams else "",
            "zero_rtt": ZERO_RTT if self.zero_rtt else "",
        }
        return _SEPARATOR.join(filter(None, words.values()))

    @property
    def congestion_control(self) -> str:
        """The congestion control by the implementation's name for it."""
        if self.policy:
            return PurePath(self.policy).stem
        return self.control or CONTROLS[self.implementation][0]

    @property
    def receiving(self) -> Implementation:
        """The receiver's implementation."""
        return self.receiver or self.implementation

    @property
    def own_ccs(self) -> tuple[str, ...]:
        brand = "quic" if self.implementation == "quinn" else self.implementation
        return (f"{brand}-{self.congestion_control}"[:15],)

    @property
    def file(self) -> str | None:
        return self.policy

    def located_policy(self) -> Path | None:
        """Return the policy's file, which may be named without the folder of those that are
        there. Raises RefusedError."""
        return cc_files.locate(self.policy) if self.policy else None

    @property
    def most_bytes(self) -> int | None:
        return self.volume_bytes

    @model_validator(mode="after")
    def _has_such_a_control(self) -> Quic:
        if self.policy:
            return self._has_a_policy_alone()
        if self.parameters:
            raise invalid(
                f"{self.parameters[0]} is a parameter, and there is no policy",
                "name a policy, such as ./mine.py, or a word of docs/quic.md",
            )
        known = CONTROLS[self.implementation]
        if self.congestion_control not in known:
            raise invalid(
                f"{self.implementation} has no congestion control {self.control}",
                f"choose {', '.join(known[:-1])} or {known[-1]}",
            )
        return self

    def _has_a_policy_alone(self) -> Quic:
        if self.implementation != "quinn" or self.control:
            other = self.control or self.implementation
            raise invalid(f"{self.policy} decides in place of {other}", "leave one of both out")
        return self

    @model_validator(mode="after")
    def _both_ends_can(self) -> Quic:
        for word, asked in ((DATAGRAMS, self.datagrams), (ZERO_RTT, self.zero_rtt)):
            if asked and (self.implementation, self.receiving) != ("quinn", "quinn"):
                raise invalid(f"{word} is for quinn at both ends", "leave it or aioquic out")
        return self


def _field(word: str) -> dict[str, object]:
    """Return the field that a word means. Raises InvalidValue."""
    name, equals, value = word.partition("=")
    if equals and name in _NUMBERS:
        return {_NUMBERS[name]: units.size_bytes(value) if name == "volume" else value}
    switches = {DATAGRAMS: "datagrams", ZERO_RTT: "zero_rtt"}
    controls = {one for some in CONTROLS.values() for one in some}
    if word.endswith(_POLICY):
        return {"policy": word}
    if equals and name.isidentifier():
        return {_PARAMETER: word}
    if word in switches:
        return {switches[word]: True}
    if word in CONTROLS:
        return {"implementation": word}
    if word in controls:
        return {"control": word}
    known = [*CONTROLS, *sorted(controls), "POLICY.py", *switches, *(f"{one}=" for one in _NUMBERS)]
    raise InvalidValue(unknown("word of quic:SPEC", word, known, "see docs/quic.md"))
