# SPDX-License-Identifier: Apache-2.0
"""The provider of Reminis: the kernel module where one is installed, else the BPF program."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ccu.congestion.catalogue import trace_file
from ccu.congestion.provider import Control, InVirtualTime, NewParameters, Provider, VirtualReport
from ccu.congestion.reminis import implementation, parameters, session
from ccu.host.setup import Setup
from ccu.spec.experiment import Experiment


class Reminis(Provider):
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = True
    changes_parameters = True

    def controls(self) -> Mapping[str, Control]:
        choice = implementation.choose()
        return {implementation.NAME: Control(choice.source, choice.obstacle, choice.temporary)}

    def check(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,  # noqa: ARG002
        given: Mapping[str, str],
        *,
        virtual: bool,  # noqa: ARG002
    ) -> None:
        parameters.check(given)

    def loaded(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,  # noqa: ARG002
        setup: Setup,
    ) -> AbstractContextManager[dict[str, Any]]:
        return session.in_kernel(setup)

    def change(
        self,
        name: str,  # noqa: ARG002
        before: Experiment,
        after: Experiment,
        setup: Setup,  # noqa: ARG002
    ) -> None:
        session.change(parameters.changed(before, after))

    def new_parameters(self, name: str, before: Experiment, after: Experiment) -> NewParameters:  # noqa: ARG002
        return NewParameters({implementation.MODULE: parameters.changed(before, after)})

    def virtual_controls(self, kernel: Set[str]) -> Set[str]:
        return kernel & {implementation.NAME}

    def in_virtual_time(self, name: str, file: Path | None, setup: Setup) -> InVirtualTime:  # noqa: ARG002
        wanted = parameters.for_module(parameters.of_experiment(setup.experiment))
        return InVirtualTime(
            module_parameters={implementation.MODULE: wanted},
            trace=trace_file(setup.raw, name).name,
        )

    def account(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,  # noqa: ARG002
        setup: Setup,  # noqa: ARG002
        report: VirtualReport,
    ) -> dict[str, Any]:
        return {
            "kind": "module",
            "parameters": report.module_parameters[implementation.MODULE],
        }


provider = Reminis()
