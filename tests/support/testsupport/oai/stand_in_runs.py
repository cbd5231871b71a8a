# SPDX-License-Identifier: Apache-2.0
"""Runs of `ccu run` over the stand-ins, and what may be left after them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ccu.testbeds.oai import oci_images
from ddu.api import analyze
from testsupport.oai.containers import Daemon
from testsupport.prepared import Started

# The stand-ins carry packets by themselves in wall time, and not in samples that could be held.
SHORT = ("--duration", "2s", "--rtt", "0ms", "--scenario", "static", "--no-lockstep")


class Ran(NamedTuple):
    """The end of a `ccu run`: exit code, output, and the run's directory if there is one."""

    code: int
    printed: str
    directory: Path | None

    @property
    def manifest(self) -> dict[str, Any]:
        assert self.directory is not None, self.printed
        content: dict[str, Any] = json.loads((self.directory / "run.json").read_text())
        return content


class Ccu:
    """A ccu with the stand-ins, which must leave no resources behind.

    `common`: words of every run. `changed`: see `Started`."""

    def __init__(
        self,
        environment: dict[str, str],
        output: Path,
        daemon: Daemon | None = None,
        common: Sequence[str] = SHORT,
    ) -> None:
        self._common = common
        self.output = output
        self.daemon = daemon
        self._environment = environment

    def start(
        self, *words: str, changed: str = "", environment: Mapping[str, str] = MappingProxyType({})
    ) -> Started:
        variables = {**self._environment, **environment}
        return Started("ccu", *words, environment=variables, changed=changed)

    def start_run(
        self,
        *words: str,
        testbed: str = "rfsim",
        changed: str = "",
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Started:
        arguments = ("run", "--testbed", testbed, *self._common, *words)
        return self.start(*arguments, changed=changed, environment=environment)

    def run(
        self,
        *words: str,
        testbed: str = "rfsim",
        flows: str = "cubic@0",
        changed: str = "",
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> Ran:
        output = self.output / f"{len(list(self.output.iterdir())):02d}"
        arguments = ("--flows", flows, *words, "--output", str(output))
        process = self.start_run(
            *arguments, testbed=testbed, changed=changed, environment=environment
        )
        code = process.result().returncode
        directories = list(output.iterdir()) if output.exists() else []
        return Ran(code, process.printed, directories[0] if directories else None)


def remaining_resources(ccu: Ccu) -> list[str]:
    """Return our containers, networks, network namespaces, bridges and records.

    If only networks remain that Docker refuses to remove, restart it first: as containers start or
    end at the same time, it may count an endpoint that does not exist until it is started again
    (https://github.com/moby/moby/issues/42119).
    """
    left = _left(ccu)
    if left and ccu.daemon and not ccu.daemon.api.containers():
        networks = ccu.daemon.api.networks("ccu.run")
        if networks and all(map(ccu.daemon.api.refuses_to_remove, networks)):
            ccu.daemon.restart()
            ccu.start("clean").wait()
            return _left(ccu)
    return left


def _left(ccu: Ccu) -> list[str]:
    paths = [
        *(path for path in Path("/run/ccu").glob("*.json") if not path.name.startswith("standin-")),
        *(Path("/run/netns").glob("ccu-*")),
        *(Path("/sys/class/net").glob("ccu-*")),
        *(path for path in oci_images.FOLDER.glob("ccu-*") if "base" not in path.name),
    ]
    api = ccu.daemon.api if ccu.daemon else None
    listed = api.containers() + api.networks("ccu.run") if api else []
    return [str(path) for path in paths] + listed


def analysed(ran: Ran) -> Path:
    """Return the directory of a successful run, analysed."""
    assert ran.code == 0, ran.printed
    assert ran.directory is not None
    assert ran.manifest["status"] == "finished"
    analyze(ran.directory, report=False)
    return ran.directory


def received_bytes(run: Path, flow: str) -> int:
    report = json.loads((run / f"raw/iperf3-{flow}-server.json").read_text())
    return int(report["end"]["sum_received"]["bytes"])
