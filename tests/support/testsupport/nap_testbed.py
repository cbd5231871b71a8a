# SPDX-License-Identifier: Apache-2.0
"""The testbed `nap`, for tests of campaigns: a run sleeps, needs nothing, and nothing disturbs it.
Of the testbed `bed`, there is one.

Levels of `prb` choose what happens: BAD fails, BROKEN has raw data that cannot be analysed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import SHARED_CLOCK, Driver, Outcome, Site, WholeRun
from ccu.traffic.flow import Flow
from testsupport.example_package import installed

ENTRY_POINTS = "nap = testsupport.nap_testbed:NAP\nbed = testsupport.nap_testbed:ONE_BED"
BED = "bed of a test"
BAD, BROKEN = 11, 18


class NapOptions(TestbedOptions):
    """No options of its own."""

    name: Literal["nap"] = "nap"


class BedOptions(TestbedOptions):
    """No options of its own."""

    name: Literal["bed"] = "bed"


class NapDriver(Driver):
    """A testbed without hosts."""

    summary = "sleeps, for tests"
    options = NapOptions
    needs = ()
    needs_root = False
    own_kernel = True
    undisturbed = True

    def whole_run(self) -> WholeRun:
        return _nap

    def label(self, experiment: Experiment) -> str:  # noqa: ARG002
        return "nap"


class BedDriver(NapDriver):
    """The same, in a bed that this machine has only once."""

    options = BedOptions
    alone = BED


def _nap(site: Site, flows: Sequence[Flow]) -> Outcome:
    experiment = site.experiment
    began_ns = time.monotonic_ns()
    sleep = ["sleep", str(experiment.duration_s)]
    process = site.supervisor.start("nap", sleep, stage="nap", lasting=False)
    site.supervisor.wait_for(process, lambda: process.ended, "ended", 60)
    site.supervisor.check()
    if experiment.prb == BAD:
        raise RunFailed("nap", "a bad dream")
    (site.raw / "slept.txt").write_text(f"{began_ns} {time.monotonic_ns()}\n")
    captures = []
    if experiment.prb == BROKEN:
        (site.raw / "sender.pcap").write_bytes(b"no capture")
        captures = [{"host": "server", "role": "sender", "file": "raw/sender.pcap"}]
    return ended(flows, {"captures": [one | {"packets_dropped_count": 0} for one in captures]})


def ended(flows: Sequence[Flow], records: dict[str, Any]) -> Outcome:
    """Return the end of a run in which each flow did what it should."""
    for flow in flows:
        flow.cc_read_back = flow.cc
        flow.counted_bytes = 1
    return Outcome(
        records=records | {"time": {"clock": "CLOCK_REALTIME", **SHARED_CLOCK}},
        summary={"verdict": "valid", "verdict_reasons": []},
        delivered_bytes=lambda _: None,
    )


NAP, ONE_BED = NapDriver(), BedDriver()


def install(folder: Path) -> Path:
    """Put the driver's entry point into a folder for PYTHONPATH."""
    installed(folder, "nap_testbed", "ccu.testbeds", ENTRY_POINTS)
    return folder
