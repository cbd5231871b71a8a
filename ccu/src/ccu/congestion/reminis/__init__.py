# SPDX-License-Identifier: Apache-2.0
"""The provider of Reminis: the kernel module where one is installed, else the BPF program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from ccu.congestion.provider import Control, Setup
from ccu.congestion.reminis import implementation, parameters, session


class Reminis:
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = True

    def controls(self) -> Mapping[str, Control]:
        choice = implementation.choose()
        return {implementation.NAME: Control(choice.source, choice.obstacle, choice.temporary)}

    def check_parameters(self, parameters_: Mapping[str, str]) -> None:
        parameters.check(parameters_)

    def loaded(self, name: str, setup: Setup) -> AbstractContextManager[dict[str, Any]]:  # noqa: ARG002
        return session.in_kernel(setup)


provider = Reminis()
