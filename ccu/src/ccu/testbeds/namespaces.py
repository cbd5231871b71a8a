# SPDX-License-Identifier: Apache-2.0
"""Hosts that are network namespaces of this machine, whose kernel they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ccu.host import namespace, programs
from ccu.testbeds import SHARED_CLOCK, Host


class NamespaceHosts:
    """The part of `ccu.testbeds.Testbed` that is the same for all such hosts."""

    clock = SHARED_CLOCK

    def __init__(self, names: Mapping[Host, str]) -> None:
        """`names`: the namespace of each host."""
        self.names = names

    def ue_host(self, ue: int) -> Host:  # noqa: ARG002 - one host has a device for each
        return "ue"

    def command(self, host: Host, arguments: Sequence[str]) -> list[str]:
        # ip replaces itself by the program, which keeps its pid and its parent's death signal.
        return [programs.require("ip"), "netns", "exec", self.names[host], *arguments]

    def congestion_control(self, host: Host, port: int) -> str | None:
        return namespace.congestion_control(self.names[host], port)

    def start_changes(self) -> None:
        raise NotImplementedError

    def listens(self, host: Host, port: int) -> bool:
        return namespace.listens(self.names[host], port)
