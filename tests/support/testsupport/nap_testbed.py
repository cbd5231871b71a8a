# SPDX-License-Identifier: Apache-2.0
"""The testbed `nap`, for tests of campaigns: a run sleeps, needs nothing, and nothing disturbs it.
Of the testbed `bed`, there is one.

Levels of `prb` choose what happens: BAD fails, BROKEN has raw data that cannot be analysed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import SHARED_CLOCK, Driver, Outcome, Site, WholeRun
from ccu.traffic.flow import Flow

ENTRY_POINTS = "nap = testsupport.nap_testbed:NAP\nbed = testsupport.nap_testbed:ONE_BED"
BED = "bed of a test"
BAD, BROKEN = 11, 18


class NapOptions(TestbedOptions):
    """None."""

    name: Literal["nap"] = "nap"


class BedOptions(TestbedOptions):
    """None."""

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
    for flow in flows:
        flow.cc_read_back = flow.cc
        flow.counted_bytes = 1
    return Outcome(
        records={
            "captures": [one | {"packets_dropped_count": 0} for one in captures],
            "time": {"clock": "CLOCK_REALTIME", **SHARED_CLOCK},
        },
        summary={"verdict": "valid", "verdict_reasons": []},
        delivered_bytes=lambda _: None,
    )


NAP, ONE_BED = NapDriver(), BedDriver()


def install(folder: Path) -> Path:
    """Put the driver's entry point into a folder for PYTHONPATH."""
    info = folder / "nap_testbed-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nap-testbed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ccu.testbeds]\n{ENTRY_POINTS}\n")
    return folder
