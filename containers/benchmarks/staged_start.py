# SPDX-License-Identifier: Apache-2.0
"""Measure what ccu's staged start adds: `ccu testbed up` compared with a bare start.

The bare start is Compose alone, in the same order and with the same files: it goes on as soon as a
service listens, polls every millisecond, checks nothing and records nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from ccu.host import listening
from ccu.testbeds.oai import configs, docker, services
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.stack import UE_INTERFACE, has_interface
from ccu.testbeds.oai.version import DEFAULT
from testsupport.oai.containers import Daemon, DockerApi, make_root_file_system, variables
from testsupport.oai.radio import Pids, Radio

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
REPEATS = 5
PORTS = {"mysql": 3306, "nrf": 80, "amf": 80, "smf": 80}
ABOUT = """\
## Staged start

`ccu testbed up rfsim`, from the command to a UE that can ping, compared with Compose alone, which
starts the same containers in the same order (limit: 2 s more). The stand-ins are ready at once,
so that no overhead is hidden by waiting for them.
"""


@contextmanager
def world(folder: Path) -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the environment in which ccu finds the stand-ins, and the interface of the daemon."""
    root_file_system = make_root_file_system(folder / "rootfs.tar")
    daemon = Daemon(folder)
    api = DockerApi(folder / "docker.sock")
    radio = Radio(Pids(api.services, api.pid), folder)
    try:
        daemon.build(root_file_system)
        radio.start()
        yield os.environ | variables(daemon), DockerApi(folder / "docker.sock")
    finally:
        radio.finish()
        daemon.stop()


def ccu_s(environment: dict[str, str]) -> float:
    began_s = time.monotonic()
    subprocess.run([BIN / "ccu", "testbed", "up"], env=environment, check=True, capture_output=True)
    took_s = time.monotonic() - began_s
    subprocess.run(
        [BIN / "ccu", "testbed", "down"], env=environment, check=True, capture_output=True
    )
    return took_s


def bare_s(environment: dict[str, str], api: Any, folder: Path) -> float:
    plan = Plan(DEFAULT, carrier(106))
    given = environment | configs.write(plan, folder / "config") | {"CCU_RUN": "bare"}
    compose = [*docker.command(), "compose", "-p", "bare", "-f", str(services.FILE)]
    compose += ["--profile", plan.profile, "--progress", "quiet"]

    def start(*names: str) -> dict[str, int]:
        words = ["up", "--detach", "--no-deps", "--pull", "never", "--no-build", *names]
        subprocess.run([*compose, *words], env=given, check=True, capture_output=True)
        return {name: api.pid(container) for name, container in api.services().items()}

    began_s = time.monotonic()
    pids = start(*services.CORE, services.DATA_NETWORK)
    for name, port in PORTS.items():
        _until(_listens, pids[name], port)
    _until(_listens, pids["upf"], 8805, "udp")
    pids = start("gnb")
    for port in (configs.TELNET_PORT, 4043):
        _until(_listens, pids["gnb"], port)
    pids = start("ue1")
    _until(has_interface, pids["ue1"], UE_INTERFACE)
    _until(_pings, pids["ue1"], services.server_of(plan).address)
    took_s = time.monotonic() - began_s
    words = ["down", "--volumes", "--timeout", "5"]
    subprocess.run([*compose, *words], env=given, check=True, capture_output=True)
    return took_s


def _until(look: Any, *arguments: Any) -> None:
    while not look(*arguments):
        time.sleep(0.001)


def _listens(pid: int, port: int, protocol: str = "tcp") -> bool:
    return bool(listening.addresses(port, protocol, pid) - {listening.LOOPBACK})


def _pings(pid: int, server: str) -> bool:
    inside = ["nsenter", "--target", str(pid), "--net"]
    route = ["ip", "route", "replace", server, "dev", UE_INTERFACE]
    ping = ["ping", "-c", "1", "-W", "1", "-q", server]
    return all(
        subprocess.run([*inside, *words], capture_output=True).returncode == 0
        for words in (route, ping)
    )


def measure() -> list[str]:
    """Return the table in Markdown."""
    with tempfile.TemporaryDirectory() as name, world(Path(name)) as (environment, api):
        os.environ["DOCKER_HOST"] = environment["DOCKER_HOST"]
        # In turns, so that other load affects both.
        pairs = [(ccu_s(environment), bare_s(environment, api, Path(name))) for _ in range(REPEATS)]
    ours_s, bare = (median(times) for times in zip(*pairs, strict=True))
    added_s = median(with_ccu - without for with_ccu, without in pairs)
    return [
        ABOUT,
        "| start | median |",
        "|---|---|",
        f"| Compose alone | {bare:.2f} s |",
        f"| `ccu testbed up` | {ours_s:.2f} s |",
        f"| added (median of {REPEATS} pairs) | **{added_s:.2f} s** |",
    ]
