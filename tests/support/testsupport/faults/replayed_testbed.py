# SPDX-License-Identifier: Apache-2.0
"""The testbed `replayed`, for campaigns that cost nothing: its runs copy generated packets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ccu.spec.experiment import Experiment
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import Outcome, Site, WholeRun
from ccu.traffic.flow import Flow
from testsupport.nap_testbed import NapDriver, ended
from testsupport.synthetic_run import steady

ENTRY_POINT = "replayed = testsupport.faults.replayed_testbed:REPLAYED"


class ReplayedOptions(TestbedOptions):
    """No options of its own."""

    name: Literal["replayed"] = "replayed"


class ReplayedDriver(NapDriver):
    """A testbed without hosts."""

    summary = "replays packets, for tests"
    options = ReplayedOptions

    def whole_run(self) -> WholeRun:
        return _replay

    def label(self, experiment: Experiment) -> str:  # noqa: ARG002
        return "replayed"


def _replay(site: Site, flows: Sequence[Flow]) -> Outcome:
    packets = steady(40)
    packets.sender.write(site.raw / "sender.pcap")
    packets.receiver.write(site.raw / "receiver.pcap")
    recorded = packets.manifest()
    return ended(flows, {name: recorded[name] for name in ("flows", "captures", "hosts")})


REPLAYED = ReplayedDriver()
