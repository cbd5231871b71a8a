# SPDX-License-Identifier: Apache-2.0
"""A Docker daemon of the tests' own, images of stand-ins, and the link that plays the radio."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyroute2 import netns

from ccu.errors import Refused
from ccu.oai import docker
from ccu.programs import REPOSITORY

STAND_IN = Path(__file__).with_name("stand_in")
BIN = Path(sys.executable).parent
REGISTRY = "ccu-stand-in"
CORE_VERSION = "v2.1.10"
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
    """A tarball of a small Debian with Python, made of packages, not of an image."""
    need("mmdebstrap")
    release = dict(
        line.split("=", 1)
        for line in Path("/etc/os-release").read_text().splitlines()
        if "=" in line
    )
    file = tmp_path_factory.mktemp("rootfs") / "rootfs.tar"
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
        for role, name in roles.items():
            words = ("--build-arg", f"ROLE={role}", "-t", f"{REGISTRY}/{name}", STAND_IN)
            self.docker("build", "--quiet", *words)

    def faulty(self, tag: str, **variables: str) -> str:
        """gNB and UE images with `tag` whose environment has `variables`."""
        lines = "".join(f"ENV {key}={value}\n" for key, value in variables.items())
        for name in ("oai-gnb", "oai-nr-ue"):
            subprocess.run(
                ["docker", "build", "--quiet", "-t", f"{REGISTRY}/{name}:{tag}", "-"],
                input=f"FROM {REGISTRY}/{name}:2026.w11\n{lines}",
                capture_output=True,
                text=True,
                env=self.environment,
                check=True,
            )
        return tag

    def stop(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._log.close()


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


def one_layout_for_all(daemon: Daemon, folder: Path) -> Path:
    """An OCI layout for every image: one image, whose container's name says what it stands in for.

    Under the tag `dies` it is the one whose gNB dies.
    """
    image = f"{REGISTRY}/any:1"
    daemon.docker("build", "--quiet", "--build-arg", "ROLE=", "-t", image, STAND_IN)
    subprocess.run(
        ["docker", "build", "--quiet", "-t", f"{REGISTRY}/any:dies", "-"],
        input=f"FROM {image}\nENV FAULT=dies\n",
        capture_output=True,
        text=True,
        env=daemon.environment,
        check=True,
    )
    tags = {"2026.w11": image, CORE_VERSION: image, "8.0": image, "1": image}
    for tag, source in {**tags, "dies": f"{REGISTRY}/any:dies"}.items():
        archive = folder / f"{tag}.tar"
        daemon.docker("save", source, "-o", archive)
        words = ["skopeo", "copy", "--quiet", f"docker-archive:{archive}"]
        subprocess.run([*words, f"oci:{folder}/one:{tag}"], check=True, capture_output=True)
        archive.unlink()
    names = ("oai-gnb", "oai-nr-ue", "oai-nrf", "oai-amf", "oai-smf", "oai-upf", "mysql")
    for name in (*names, "ccu-traffic"):
        (folder / name).symlink_to("one")
    return folder


class Radio(threading.Thread):
    """Plays the air: when UE stand-ins have synchronised, nr-link joins them to the UPF.

    `pid_of(service)` tells the first process of a container of the newest stack.
    """

    def __init__(self, pid_of: object, folder: Path) -> None:
        super().__init__(daemon=True)
        self._pid_of = pid_of
        self._folder = folder
        self._over = threading.Event()
        self._link: subprocess.Popen[bytes] | None = None
        self._names: list[str] = []
        self._ue_pid: int | None = None

    def run(self) -> None:
        while not self._over.wait(0.1):
            with contextlib.suppress(OSError):
                self._look()
        self._end()

    def _look(self) -> None:
        pids = {name: self._pid_of(name) for name in ("upf", "gnb", "ue1")}  # type: ignore[operator]
        there = all(pids.values())
        if self._link is not None and (not there or pids["ue1"] != self._ue_pid):
            self._end()
        synchronised = Path(f"/proc/{pids['ue1']}/root/tmp/synchronised")
        if there and self._link is None and synchronised.exists():
            self._begin(pids)

    def _begin(self, pids: dict[str, int]) -> None:
        self._ue_pid = pids["ue1"]
        self._names = [f"standin-{os.getpid()}-{name}" for name in ("upf", "ue1")]
        for name, service in zip(self._names, ("upf", "ue1"), strict=True):
            netns.attach(name, pids[service])
        target = Path(f"/proc/{pids['gnb']}/root/tmp/link")
        target.mkdir(exist_ok=True)
        delay = {"delay_ms": 5.0, "loss_ratio": 0.0}
        queue = {"packets": 1000}
        config = {
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
                "core": {"name": "n6", "netns": self._names[0]},
                "ue": [{"name": "oaitun_ue1", "netns": self._names[1]}],
            },
            "output": {
                "mac": str(target / "mac.csv"),
                "link": str(self._folder / "link.csv"),
                "summary": str(self._folder / "link-summary.json"),
            },
        }
        file = self._folder / "link.yaml"
        file.write_text(yaml.safe_dump(config))
        with (self._folder / "nr-link.log").open("ab") as log:
            self._link = subprocess.Popen(
                [BIN / "nr-link", "run", "--config", file], stdout=log, stderr=log
            )

    def _end(self) -> None:
        if self._link is not None:
            self._link.terminate()
            self._link.wait(10)
            self._link = None
        for name in self._names:
            with contextlib.suppress(OSError):
                netns.remove(name)
        self._names = []

    def finish(self) -> None:
        self._over.set()
        self.join(20)
