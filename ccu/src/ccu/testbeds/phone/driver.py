# SPDX-License-Identifier: Apache-2.0
"""The driver of the testbed phone: a phone in an operator's network, with this machine as
server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from ccu.host.findings import Finding
from ccu.spec.experiment import Experiment
from ccu.spec.option import Option
from ccu.testbeds import Driver, Site, Testbed
from ccu.testbeds.phone.options import PhoneOptions, phone_options


class PhoneDriver(Driver):
    """The driver of a phone reached by adb, by ssh, or manually."""

    summary = "a phone in an operator's network, by adb, ssh or manually (docs/phone.md)"
    options = PhoneOptions
    panel = "Options of the testbed phone (docs/phone.md)"
    needs = ()
    elsewhere: ClassVar[Option | None] = Option(
        "Another machine with ccu as the server, as a host name for ssh.",
        flag="--server",
        unset="this one",
    )

    def check_machine(self, experiment: Experiment) -> None:
        from ccu.testbeds.phone import testbed

        testbed.check_machine(experiment)

    def up(self, site: Site) -> AbstractContextManager[Testbed]:
        from ccu.testbeds.phone import testbed

        return testbed.up(site)

    def examine(self, experiment: Experiment) -> list[Finding]:
        from ccu.testbeds.phone import doctor

        return doctor.examine(phone_options(experiment))

    def label(self, experiment: Experiment) -> str:  # noqa: ARG002
        return "phone"

    def notice(self, experiments: Sequence[Experiment]) -> str:
        from ccu.testbeds.phone import data_plan

        most = sum(phone_options(one).max_bytes for one in experiments)
        sentence = f"data over the operator's network: at most {most / 1e6:g} MB (--max-bytes)"
        if len(experiments) == 1:
            one = experiments[0]
            at_rate = one.duration_s * len(one.directions) * 100e6 / 8
            sentence += f"; {one.duration_s:g} s at 100 Mbit/s are {at_rate / 1e6:g} MB"
        known = data_plan.sentence(phone_options(experiments[0]))
        return f"{sentence}\n{known}" if known else sentence

    def run_elsewhere(
        self, experiment: Experiment, machine: str, output: Path, dry_run: bool
    ) -> Path | None:
        from ccu.testbeds.phone import remote_server

        return remote_server.run(experiment, machine, output, dry_run)


PHONE = PhoneDriver()
