# SPDX-License-Identifier: Apache-2.0
"""Links of nr-link between the UPF and the UEs, in place of the radio."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pyroute2 import netns

from ddu.installation import data
from testsupport.oai.containers import noted

BIN = Path(sys.executable).parent
_LOOKS_EVERY_S = 0.3
"""Each look costs Docker and us 7 ms of CPU, all through the tests; a UE waits for its link."""


class Pids:
    """The first process of each service's container of the newest stack, asked for as little as
    can be: `names()` gives services and their containers, `pid_of` a container's process."""

    def __init__(
        self, names: Callable[[], dict[str, str]], pid_of: Callable[[str], int | None]
    ) -> None:
        self._names = names
        self._pid_of = pid_of
        self._known: dict[str, int] = {}

    def __call__(self) -> dict[str, int]:
        pids = {}
        for service, container in self._names().items():
            pid = self._known.get(container)
            if pid is None or not Path(f"/proc/{pid}/ns/net").exists():
                pid = self._pid_of(container)
            if pid:
                pids[service] = self._known[container] = pid
        return pids


class Radio(threading.Thread):
    """Plays the air: when a UE stand-in has synchronised, an nr-link joins it to the UPF, or
    without a core to the gNB.

    `pids` has the first process of each service's container of the newest stack.
    """

    def __init__(self, pids: Callable[[], dict[str, int]], folder: Path) -> None:
        super().__init__(daemon=True)
        self._pids = pids
        self._folder = folder
        self._over = threading.Event()
        self._links: dict[str, Link] = {}

    def run(self) -> None:
        while not self._over.wait(_LOOKS_EVERY_S):
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._look()
        self._end(list(self._links))

    def _look(self) -> None:
        # gnb-x310 is the gNB as well, on the host's network.
        pids = {
            name.removeprefix("open5gs-").partition("-")[0]: pid
            for name, pid in self._pids().items()
        }
        # Without a core, the gNB is the other end.
        there = "gnb" in pids and ("upf" in pids or "amf" not in pids)
        gone = [ue for ue, link in self._links.items() if not there or pids.get(ue) != link.ue_pid]
        self._end(gone)
        for ue in sorted(pids):
            synchronised = Path(f"/proc/{pids[ue]}/root/tmp/synchronised")
            if there and ue.startswith("ue") and ue not in self._links and synchronised.exists():
                self._links[ue] = Link(int(ue[2:]), pids[ue], pids, self._folder)

    def _end(self, ues: Sequence[str]) -> None:
        for ue in ues:
            self._links.pop(ue).end()

    def finish(self) -> None:
        self._over.set()
        self.join(20)


class Link:
    """An nr-link between the UPF and one UE; its MAC's samples are in the gNB's container."""

    def __init__(self, number: int, ue_pid: int, pids: dict[str, int], folder: Path) -> None:
        self.ue_pid = ue_pid
        self._names = [f"standin-{os.getpid()}-{number}-{name}" for name in ("upf", "ue")]
        self._core_device = f"n6u{number}" if "upf" in pids else "oaitun_enb1"
        for name, pid in zip(self._names, (pids.get("upf", pids["gnb"]), ue_pid), strict=True):
            netns.attach(name, pid)
        mac = Path(f"/proc/{pids['gnb']}/root/tmp/link/mac{number}.csv")
        mac.parent.mkdir(exist_ok=True)
        file = folder / f"link{number}.yaml"
        file.write_text(yaml.safe_dump(self._config(number, mac, folder)))
        with (folder / f"nr-link{number}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [BIN / "nr-link", "run", "--config", file], stdout=log, stderr=log
            )
        self._resources = noted(f"link{number}", self._process, *self._names)

    def _config(self, number: int, mac: Path, folder: Path) -> dict[str, Any]:
        delay = {"delay_ms": 5.0, "loss_ratio": 0.0}
        queue = {"packets": 1000}
        return {
            "schema": "nr-link/1",
            "seed": 1,
            "mtu_bytes": 1500,
            "radio": {
                "carrier_ghz": 3.6,
                "numerology": 1,
                "prb": 24,
                "duplex": {
                    "tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}
                },
                "layers": {"dl": 1, "ul": 1},
                "mcs_table": "64qam",
                "link_adaptation": {"olla": {"bler_target": 0.1}},
            },
            "scenario": str(data("ccu", "scenarios") / "static.yaml"),
            "path": {"dl": delay, "ul": dict(delay)},
            "queue": {"dl": queue, "ul": dict(queue)},
            "samples": {"interval_ms": 100},
            "devices": {
                "core": {"name": self._core_device, "netns": self._names[0]},
                "ue": [{"name": "oaitun_ue1", "netns": self._names[1]}],
            },
            "output": {
                "mac": str(mac),
                "link": str(folder / f"link{number}.csv"),
                "summary": str(folder / f"link{number}-summary.json"),
            },
        }

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(600)
        self._resources.remove()
