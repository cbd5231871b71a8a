# SPDX-License-Identifier: Apache-2.0
"""The provider of Reminis: the kernel module where one is installed, else the BPF program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from ccu.congestion.provider import Control, Setup
from ccu.congestion.reminis import implementation, session
from ccu.congestion.reminis.parameters import check as check_parameters


class Reminis:
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = True
    suffix = None

    def controls(self) -> Mapping[str, Control]:
        choice = implementation.choose()
        return {implementation.NAME: Control(choice.source, choice.obstacle, choice.temporary)}

    def check(self, name: str, parameters: Mapping[str, str]) -> None:  # noqa: ARG002
        check_parameters(parameters)

    def loaded(self, name: str, setup: Setup) -> AbstractContextManager[dict[str, Any]]:  # noqa: ARG002
        return session.in_kernel(setup)


provider = Reminis()
