# SPDX-License-Identifier: Apache-2.0
"""The path beside the radio: the RLC queue's limit, losses, and a line with a rate of its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ccu.spec.testbed import Value
from ddu.console.problems import invalid


class Buffer(Value):
    """The RLC queue's limit in either direction."""

    packets: Annotated[int, Field(ge=1)] | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Buffer:
        if (self.packets is None) == (self.bytes is None):
            raise invalid("a buffer is limited in packets or in bytes", "write 3200pkt or 2.5MB")
        return self


class Loss(Value):
    """Share of packets that the path loses at random, each way on its own."""

    dl: Annotated[float, Field(ge=0, le=1)] = 0.0
    ul: Annotated[float, Field(ge=0, le=1)] = 0.0


class CrossTraffic(Value):
    """Evenly spaced packets of others through the path's line."""

    rate_mbps: Annotated[float, Field(gt=0)]
    packet_bytes: Annotated[int, Field(ge=1)] = 1500


class Line(Value):
    """The options of one direction of the path beside delay and loss (docs/link-config.md)."""

    bit_error_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    rate_mbps: Annotated[float, Field(gt=0)] | None = None
    queue: Buffer | None = None
    cross_traffic: CrossTraffic | None = None


class Lines(Value):
    dl: Line = Line()
    ul: Line = Line()
