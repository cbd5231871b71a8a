# SPDX-License-Identifier: Apache-2.0
"""A Docker daemon of the tests' own, images of stand-ins, and the link that plays the radio."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyroute2 import netns

from ccu.host import processes, resources
from ccu.host.namespace import AttachedNetwork
from ccu.host.processes import StartedProcess
from ccu.host.programs import REPOSITORY
from ccu.host.resources import Resources
from ccu.spec.errors import Refused
from ccu.testbeds.oai import docker

STAND_IN = Path(__file__).with_name("stand_in")
BIN = Path(sys.executable).parent
REGISTRY = "ccu-stand-in"
NOTES = "standin-"
CORE_VERSION = "v2.1.10"
ANY_ROLE = f"{REGISTRY}/any:1"
PACKAGES = "python3-minimal,libpython3-stdlib,iproute2,bash,coreutils,dash,libc-bin,procps"


def need(*programs: str) -> None:
    """Skips, with the reason, where this machine cannot run containers of ours."""
    if os.geteuid() != 0:
        pytest.skip("needs root: it runs a Docker daemon or LXC")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (setup/system-packages test)")


@pytest.fixture(scope="session")
def root_file_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_root_file_system(tmp_path_factory.mktemp("rootfs") / "rootfs.tar")


def make_root_file_system(file: Path) -> Path:
    """A tarball of a small Debian with Python, made of packages, not of an image."""
    need("mmdebstrap")
    release = dict(
        line.split("=", 1)
        for line in Path("/etc/os-release").read_text().splitlines()
        if "=" in line
    )
    made = subprocess.run(
        [
            *("mmdebstrap", "--quiet", "--variant=extract", f"--include={PACKAGES}"),
            *(release["VERSION_CODENAME"].strip('"'), str(file)),
        ],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        pytest.skip(f"mmdebstrap makes no root file system here: {made.stderr.strip()[-300:]}")
    return file


def noted(what: str, process: subprocess.Popen[bytes], *names: str) -> Resources:
    """Registers what is ours, so that `ccu clean` ends it if this session is killed: a process,
    and names given to networks."""
    owned = resources.of_this_process(f"{NOTES}{os.getpid()}-{what}")
    owned.register(*map(AttachedNetwork, names))
    if identity := processes.identify(process.pid):
        owned.register(StartedProcess(what, *identity))
    return owned


class Daemon:
    """dockerd on a socket of its own, with the stand-ins' images."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = f"unix://{folder}/docker.sock"
        self.environment = os.environ | {"DOCKER_HOST": self.socket, "DOCKER_BUILDKIT": "0"}
        self._log = (folder / "dockerd.log").open("wb")
        # No default bridge: only what the tests make exists.
        self._process = subprocess.Popen(
            [
                *("dockerd", "--storage-driver", "overlay2", "--bridge=none", "-H", self.socket),
                *("--data-root", folder / "data", "--exec-root", folder / "exec"),
                *("--pidfile", folder / "pid"),
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._resources = noted("docker", self._process)
        deadline = time.monotonic() + 30
        while self.docker("version", check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                tail = (folder / "dockerd.log").read_text()[-400:]
                pytest.skip(f"dockerd does not run here: {tail}")
            time.sleep(0.1)

    def docker(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["docker", *map(str, words)],
            capture_output=True,
            text=True,
            env=self.environment,
            check=check,
        )

    def build(self, root_file_system: Path) -> None:
        self.docker("import", root_file_system, f"{REGISTRY}/base:1")
        roles = {
            "gnb": "oai-gnb:2026.w11",
            "ue": "oai-nr-ue:2026.w11",
            "mysql": "mysql:8.0",
            "data-network": "traffic:1",
            **{role: f"oai-{role}:{CORE_VERSION}" for role in ("nrf", "amf", "smf", "upf")},
        }
        self.docker("build", "--quiet", "-t", ANY_ROLE, STAND_IN)
        for role, name in roles.items():
            self._derive(ANY_ROLE, name, ROLE=role)

    def faulty(self, tag: str, **variables: str) -> str:
        """gNB and UE images with `tag` whose environment has `variables`."""
        for name in ("oai-gnb", "oai-nr-ue"):
            self._derive(f"{REGISTRY}/{name}:2026.w11", f"{name}:{tag}", **variables)
        return tag

    def _derive(self, image: str, name: str, **variables: str) -> None:
        """An image with more in its environment; no container has to run for it."""
        lines = "".join(f"ENV {key}={value}\n" for key, value in variables.items())
        subprocess.run(
            ["docker", "build", "--quiet", "-t", f"{REGISTRY}/{name}", "-"],
            input=f"FROM {image}\n{lines}",
            capture_output=True,
            text=True,
            env=self.environment,
            check=True,
        )

    def stop(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._log.close()
        self._resources.remove()


@pytest.fixture(scope="session")
def daemon(root_file_system: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    need("docker", "dockerd")
    try:
        docker.command()
    except Refused as missing:
        pytest.skip(str(missing))
    made = Daemon(tmp_path_factory.mktemp("docker"))
    try:
        made.build(root_file_system)
        yield made
    finally:
        made.stop()


def variables(daemon: Daemon) -> dict[str, str]:
    """By which ccu and Compose take the stand-ins' images."""
    return {
        "DOCKER_HOST": daemon.socket,
        "OAI_REGISTRY": REGISTRY,
        "OAI_CORE_VERSION": CORE_VERSION,
        "OAI_MYSQL_IMAGE": f"{REGISTRY}/mysql:8.0",
        "OAI_TRAFFIC_IMAGE": f"{REGISTRY}/traffic:1",
    }


def one_layout_for_all(daemon: Daemon, folder: Path) -> Path:
    """An OCI layout for every image: one image, whose container's name says what it stands in for.

    Under the tag `dies` it is the one whose gNB dies.
    """
    archive, one = folder / "any.tar", folder / "one"
    daemon.docker("save", ANY_ROLE, "-o", archive)
    words = ["skopeo", "copy", "--quiet", f"docker-archive:{archive}", f"oci:{one}:2026.w11"]
    subprocess.run(words, check=True, capture_output=True)
    archive.unlink()
    for tag in (CORE_VERSION, "8.0", "1"):
        words = ["umoci", "tag", "--image", f"{one}:2026.w11", tag]
        subprocess.run(words, check=True, capture_output=True)
    words = ["umoci", "config", "--image", f"{one}:2026.w11", "--tag", "dies"]
    subprocess.run([*words, "--config.env", "FAULT=dies"], check=True, capture_output=True)
    names = ("oai-gnb", "oai-nr-ue", "oai-nrf", "oai-amf", "oai-smf", "oai-upf", "mysql")
    for name in (*names, "ccu-traffic"):
        (folder / name).symlink_to("one")
    return folder


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
        found = {}
        for service, container in self._names().items():
            pid = self._known.get(container)
            if pid is None or not Path(f"/proc/{pid}/ns/net").exists():
                pid = self._pid_of(container)
            if pid:
                found[service] = self._known[container] = pid
        return found


class DockerApi(http.client.HTTPConnection):
    """The daemon's own interface: starting the docker command ten times a second costs a core."""

    def __init__(self, socket_file: Path) -> None:
        super().__init__("localhost", timeout=5)
        self._file = socket_file

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._file))

    def get(self, path: str) -> Any:
        self.request("GET", path)
        answer = self.getresponse()
        content = answer.read()
        return json.loads(content) if answer.status == 200 else None

    def services(self) -> dict[str, str]:
        label = "com.docker.compose.service"
        return {
            one["Labels"][label]: one["Id"]
            for one in self.get("/containers/json") or []
            if label in one["Labels"]
        }

    def pid(self, container: str) -> int | None:
        found = self.get(f"/containers/{container}/json")
        return found["State"]["Pid"] if found else None


class Radio(threading.Thread):
    """Plays the air: when a UE stand-in has synchronised, an nr-link joins it to the UPF.

    `pids` tells the first process of each service's container of the newest stack.
    """

    def __init__(self, pids: Callable[[], dict[str, int]], folder: Path) -> None:
        super().__init__(daemon=True)
        self._pids = pids
        self._folder = folder
        self._over = threading.Event()
        self._links: dict[str, Link] = {}

    def run(self) -> None:
        while not self._over.wait(0.1):
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._look()
        self._end(list(self._links))

    def _look(self) -> None:
        # gnb-x310 is the gNB as well, on the host's network.
        pids = {name.partition("-")[0]: pid for name, pid in self._pids().items()}
        there = pids.keys() >= {"upf", "gnb"}
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
        for name, pid in zip(self._names, (pids["upf"], ue_pid), strict=True):
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
            "scenario": str(REPOSITORY / "rf-scenarios" / "static.yaml"),
            "path": {"dl": delay, "ul": dict(delay)},
            "queue": {"dl": queue, "ul": dict(queue)},
            "samples": {"interval_ms": 100},
            "devices": {
                "core": {"name": f"n6u{number}", "netns": self._names[0]},
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
        self._process.wait(10)
        self._resources.remove()
