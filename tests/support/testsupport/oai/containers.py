# SPDX-License-Identifier: Apache-2.0
"""A Docker daemon of the tests' own, and images of stand-ins for it and for LXC."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from ccu.host import processes, resources
from ccu.host.namespace import AttachedNetwork
from ccu.host.processes import StartedProcess
from ccu.host.resources import Resources
from testsupport.waiting import until

STAND_IN = Path(__file__).with_name("stand_in")
REGISTRY = "ccu-stand-in"
NOTES = "standin-"
CORE_VERSION = "v2.1.10"
ANY_ROLE = f"{REGISTRY}/any:1"
# As the published image's.
ENVIRONMENT = {"open5gs": {"DB_URI": "mongodb://mongo/open5gs"}}
PACKAGES = "python3-minimal,libpython3-stdlib,iproute2,bash,coreutils,dash,libc-bin,procps"

# Most of the files, which Docker and LXC would unpack, pack and hash.
UNUSED = (
    "usr/share/doc usr/share/info usr/share/locale usr/share/man usr/share/perl* "
    "usr/bin/perl* usr/lib/*/perl* usr/lib/*/libperl.so* usr/lib/*/gconv "
    "usr/lib/python3*/pydoc_data usr/lib/python3*/test usr/lib/python3*/unittest"
)


def need(*programs: str) -> None:
    """Skips, with the reason, where this machine cannot run containers of ours."""
    if os.geteuid() != 0:
        pytest.skip("needs root: it runs a Docker daemon or LXC")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (setup/system-packages test)")


def make_root_file_system(file: Path) -> Path:
    """A tarball of a small Debian with Python, made of packages, not of an image."""
    need("mmdebstrap")
    # A session that is interrupted leaves no half of it in its place.
    part = file.with_suffix(".part.tar")
    release = dict(
        line.split("=", 1)
        for line in Path("/etc/os-release").read_text().splitlines()
        if "=" in line
    )
    made = subprocess.run(
        [
            *("mmdebstrap", "--quiet", "--variant=extract", f"--include={PACKAGES}"),
            f'--extract-hook=cd "$1" && rm -rf {UNUSED}',
            *(release["VERSION_CODENAME"].strip('"'), str(part)),
        ],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        pytest.skip(f"mmdebstrap makes no root file system here: {made.stderr.strip()[-300:]}")
    return part.replace(file)


def noted(what: str, process: subprocess.Popen[bytes], *names: str) -> Resources:
    """Registers what is ours, so that `ccu clean` ends it if this session is killed: a process,
    and names given to networks."""
    owned = resources.begin_record(f"{NOTES}{os.getpid()}-{what}")
    owned.register(*map(AttachedNetwork, names))
    if identity := processes.identify(process.pid):
        owned.register(StartedProcess(what, *identity))
    return owned


class Daemon:
    """dockerd on a socket of its own, with the stand-ins' images."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "docker.sock"
        self.socket = f"unix://{self.file}"
        self.api = DockerApi(self.file)
        self.environment = os.environ | {"DOCKER_HOST": self.socket, "DOCKER_BUILDKIT": "0"}
        self._log = (folder / "dockerd.log").open("ab")
        self._start()

    def _start(self) -> None:
        # No default bridge: only what the tests make exists.
        self._process = subprocess.Popen(
            [
                *("dockerd", "--storage-driver", "overlay2", "--bridge=none", "-H", self.socket),
                *("--data-root", self.folder / "data", "--exec-root", self.folder / "exec"),
                *("--pidfile", self.folder / "pid"),
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._resources = noted("docker", self._process)
        until(lambda: self._process.poll() is not None or self.api.answers())
        if self._process.poll() is not None:
            self.stop()
            tail = (self.folder / "dockerd.log").read_text()[-400:]
            pytest.skip(f"dockerd does not run here: {tail}")

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
            "mongodb": "mongo:7.0",
            "open5gs": "open5gs:2.7.6",
            **{role: f"oai-{role}:{CORE_VERSION}" for role in ("nrf", "amf", "smf", "upf")},
        }
        self.docker("build", "--quiet", "-t", ANY_ROLE, STAND_IN)
        for role, name in roles.items():
            self._derive(ANY_ROLE, name, ROLE=role, **ENVIRONMENT.get(role, {}))

    def faulty(self, tag: str, **variables: str) -> str:
        """gNB and UE images with `tag` whose environment has `variables`."""
        for name in ("oai-gnb", "oai-nr-ue"):
            self._derive(f"{REGISTRY}/{name}:2026.w11", f"{name}:{tag}", **variables)
        return tag

    def faulty_core(self, tag: str, role: str, **variables: str) -> str:
        """The core's images with `tag`; the environment of the function `role` has `variables`."""
        for one in ("nrf", "amf", "smf", "upf"):
            image = f"{REGISTRY}/oai-{one}:{CORE_VERSION}"
            self._derive(image, f"oai-{one}:{tag}", **(variables if one == role else {}))
        return tag

    def _derive(self, image: str, name: str, **variables: str) -> None:
        """Make an image with more in its environment; no container has to run for it."""
        lines = "".join(f"ENV {key}={value}\n" for key, value in variables.items())
        self.api.build(f"{REGISTRY}/{name}", f"FROM {image}\n{lines}")

    def restart(self) -> None:
        self._end()
        self._start()

    def stop(self) -> None:
        self._end()
        self._log.close()

    def _end(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(600)
        self._resources.remove()


def variables(daemon: Daemon) -> dict[str, str]:
    """The names by which ccu and Compose take the stand-ins' images."""
    return {
        "DOCKER_HOST": daemon.socket,
        "OAI_REGISTRY": REGISTRY,
        "OAI_CORE_VERSION": CORE_VERSION,
        "OAI_MYSQL_IMAGE": f"{REGISTRY}/mysql:8.0",
        "OAI_TRAFFIC_IMAGE": f"{REGISTRY}/traffic:1",
        "OPEN5GS_IMAGE": f"{REGISTRY}/open5gs:2.7.6",
        "OPEN5GS_MONGODB_IMAGE": f"{REGISTRY}/mongo:7.0",
    }


def one_layout_for_all(daemon: Daemon, folder: Path) -> Path:
    """An OCI layout for every image: one image, whose container's name says what it stands in for.

    Under the tag `dies` it is the one whose gNB dies, under `leaves` the one whose UE leaves.
    """
    archive, one = folder / "any.tar", folder / "one"
    daemon.docker("save", ANY_ROLE, "-o", archive)
    words = ["skopeo", "copy", "--quiet", "--dest-compress-level=1", f"docker-archive:{archive}"]
    words += [f"oci:{one}:2026.w11"]
    subprocess.run(words, check=True, capture_output=True)
    archive.unlink()
    for tag in (CORE_VERSION, "8.0", "1"):
        words = ["umoci", "tag", "--image", f"{one}:2026.w11", tag]
        subprocess.run(words, check=True, capture_output=True)
    for fault in ("dies", "leaves"):
        words = ["umoci", "config", "--image", f"{one}:2026.w11", "--tag", fault]
        words += ["--config.env", f"FAULT={fault}"]
        subprocess.run(words, check=True, capture_output=True)
    names = ("oai-gnb", "oai-nr-ue", "oai-nrf", "oai-amf", "oai-smf", "oai-upf", "mysql")
    for name in (*names, "ccu-traffic"):
        (folder / name).symlink_to("one")
    return folder


class DockerApi(http.client.HTTPConnection):
    """The daemon's own interface: starting the docker command costs more than what it asks for."""

    def __init__(self, socket_file: Path) -> None:
        super().__init__("localhost", timeout=600)
        self._file = socket_file

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._file))

    def _ask(self, method: str, path: str, *content: Any) -> http.client.HTTPResponse:
        """Ask over a connection of its own: a daemon ends one that was idle for long."""
        self.close()
        self.request(method, path, *content)
        return self.getresponse()

    def get(self, path: str) -> Any:
        answer = self._ask("GET", path)
        content = answer.read()
        return json.loads(content) if answer.status == 200 else None

    def answers(self) -> bool:
        try:
            return self.get("/version") is not None
        except OSError:
            return False

    def build(self, name: str, dockerfile: str) -> None:
        """Make an image of what the Dockerfile names."""
        context = io.BytesIO()
        with tarfile.open(fileobj=context, mode="w") as archive:
            described = tarfile.TarInfo("Dockerfile")
            described.size = len(dockerfile)
            archive.addfile(described, io.BytesIO(dockerfile.encode()))
        of_a_tar = {"Content-Type": "application/x-tar"}
        path = f"/build?t={urllib.parse.quote(name)}"
        answer = self._ask("POST", path, context.getvalue(), of_a_tar)
        printed = answer.read().decode()
        assert answer.status == 200, printed
        assert '"errorDetail"' not in printed, printed

    def containers(self) -> list[str]:
        """Return the containers, those that have ended as well."""
        return [one["Id"] for one in self.get("/containers/json?all=1")]

    def networks(self, label: str) -> list[str]:
        filters = urllib.parse.quote(json.dumps({"label": [label]}))
        return [one["Id"] for one in self.get(f"/networks?filters={filters}")]

    def refuses_to_remove(self, network: str) -> bool:
        return self._ask("DELETE", f"/networks/{network}").status == 403

    def services(self) -> dict[str, str]:
        label = "com.docker.compose.service"
        return {
            one["Labels"][label]: one["Id"]
            for one in self.get("/containers/json") or []
            if label in one["Labels"]
        }

    def pid(self, container: str) -> int | None:
        description = self.get(f"/containers/{container}/json")
        return description["State"]["Pid"] if description else None


if __name__ == "__main__":
    make_root_file_system(Path(sys.argv[1]))
