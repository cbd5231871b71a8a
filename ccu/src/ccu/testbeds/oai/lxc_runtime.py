# SPDX-License-Identifier: Apache-2.0
"""The runtime that starts OpenAirInterface's containers by LXC, as on Colosseum.

The containers oai-core-… and oai-ran-… are the services of containers/oai.yml. An image is unpacked
once, by `lxc-create -t oci`; a run's container is an overlay over it, removed with the container.
The image's own entrypoint is the first process, as OpenAirInterface's images have no init.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from ipaddress import IPv4Interface
from pathlib import Path

from pyroute2 import IPRoute

from ccu.host import programs
from ccu.host.resources import Resource
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai import oci_images, services, stamp
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.lxc_resources import Bridge, LxcContainer, let_frames_cross, pid_of
from ccu.testbeds.oai.oci_images import FOLDER
from ccu.testbeds.oai.services import CORE, DATA_NETWORK, Service
from ddu.console.problems import RefusedError, problems_of, refusal

_NETWORKS = {
    "public_net": IPv4Interface("192.168.71.129/26"),
    "traffic_net": IPv4Interface("192.168.72.129/26"),
}
_MTU_BYTES = 9000  # fits a full packet with its GTP-U header
_STARTER, _OUTPUT = "/.ccu-start", "/.ccu-printed"
_STOP_S = 5


class LxcRuntime:
    """The runtime LXC; the names of all its containers and bridges begin with `project`."""

    def __init__(self, project: str, plan: Plan, variables: Mapping[str, str]) -> None:
        self._project = project
        self._plan = plan
        self._services = services.services(plan, variables)

    def resources(self) -> list[Resource]:
        bridges = [Bridge(self._bridge(network)) for network in _NETWORKS]
        return [*bridges, *(LxcContainer(self._name(service)) for service in self._services)]

    def _name(self, service: str) -> str:
        part = "core" if service in (*CORE, DATA_NETWORK) else "ran"
        return f"{self._project}-oai-{part}-{service}"

    def _bridge(self, network: str) -> str:
        # A device name has at most 15 characters.
        return f"{self._project[:13]}{network[0]}"

    def check(self) -> None:
        missing = {
            package
            for program, package in oci_images.PACKAGES.items()
            if shutil.which(program) is None
        }
        if missing:
            packages = " ".join(sorted(missing))
            fix = f"type: sudo apt-get install {packages}"
            raise refusal(f"lxc: {packages} not found", fix, key="runtime")
        images = sorted({service.image for service in self._services.values()})
        checks = (partial(oci_images.inspect, image) for image in images)
        if problems := [problem for look in checks for problem in problems_of(look)]:
            raise RefusedError(problems)

    def start(self, wanted: Sequence[str]) -> None:
        self._make_bridges()
        for name in wanted:
            self._create(self._services[name])
        for name in wanted:
            self._boot(name)

    def restart(self, service: str) -> None:
        self.stop([service])
        # The output so far is kept: the file is appended to.
        self._boot(service)

    def pid(self, service: str) -> int | None:
        return pid_of(self._name(service))

    def log_command(self, service: str) -> list[str]:
        pid = self.pid(service) or 0
        return [*programs.of_module(stamp), str(self._printed(service)), str(pid)]

    def how_it_ended(self, service: str) -> str | None:
        # LXC keeps no exit code.
        return "ended" if self.pid(service) is None else None

    def shell_command(self, service: str) -> list[str]:
        return ["lxc-attach", "-P", str(FOLDER), "-n", self._name(service), "--", "sh"]

    def stop(self, wanted: Sequence[str]) -> None:
        stopping = [
            subprocess.Popen(
                ["lxc-stop", "-P", FOLDER, "-n", self._name(name), "-t", str(_STOP_S)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            for name in wanted
        ]
        for one in stopping:
            one.wait()

    def _boot(self, service: str) -> None:
        name = self._name(service)
        log = FOLDER / name / "lxc.log"
        completed = programs.shielded(["lxc-start", "-P", FOLDER, "-n", name, "-d", "-o", log])
        if completed.returncode != 0:
            lines = completed.stderr.strip().splitlines()[-4:]
            raise RunFailed("containers", "lxc-start: " + "\n  ".join(lines))

    def _printed(self, service: str) -> Path:
        return FOLDER / self._name(service) / "printed.log"

    def _make_bridges(self) -> None:
        with IPRoute() as ip:
            for network, gateway in _NETWORKS.items():
                bridge = self._bridge(network)
                if ip.link_lookup(ifname=bridge):
                    continue
                for address in ip.get_addr(family=2):
                    if address.get("local") == str(gateway.ip):
                        raise RunFailed(
                            "containers",
                            f"{gateway.ip} is taken by another network of this machine. "
                            "Use `ccu clean`, or see: ip addr, docker network ls",
                        )
                ip.link("add", ifname=bridge, kind="bridge")
                index = ip.link_lookup(ifname=bridge)[0]
                ip.link("set", index=index, mtu=_MTU_BYTES, state="up")
                prefix = gateway.network.prefixlen
                ip.addr("add", index=index, address=str(gateway.ip), prefixlen=prefix)
                let_frames_cross(bridge)

    def _create(self, service: Service) -> None:
        folder = FOLDER / self._name(service.name)
        (folder / "delta").mkdir(parents=True, exist_ok=True)
        image = oci_images.inspect(service.image)
        base = oci_images.base_of(image)
        (folder / "hosts").write_text(self._hosts())
        # LXC has its own rules to split a command at quotes.
        command = shlex.join(_command(service, image))
        # A file, as the console's pseudo terminal loses fast output and the last output.
        (folder / "start").write_text(f"exec {command} >>{_OUTPUT} 2>&1\n")
        self._printed(service.name).touch()
        lines = [
            "lxc.include = /usr/share/lxc/config/common.conf",
            f"lxc.rootfs.path = overlay:{base}:{folder / 'delta'}",
            f"lxc.uts.name = {self._name(service.name)[-63:]}",
            "lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed",
            f"lxc.init.cmd = /bin/sh {_STARTER}",
            f"lxc.init.cwd = {image.working_folder}",
            "lxc.signal.halt = SIGTERM",
            "lxc.console.path = none",
            "lxc.tty.max = 0",
            "lxc.apparmor.profile = unconfined",
            *_capabilities(service),
            *_device_rules(service),
            *(f"lxc.environment = {item}" for item in _environment(service, image)),
            *(f"lxc.mount.entry = {item}" for item in _mounts(service, folder)),
            *self._network(service),
            *(f"lxc.sysctl.{key} = {value}" for key, value in service.sysctls.items()),
        ]
        (folder / "config").write_text("\n".join(lines) + "\n")

    def _hosts(self) -> str:
        rows = ["127.0.0.1 localhost"]
        for service in self._services.values():
            if address := service.addresses.get("public_net"):
                rows.append(f"{address} {service.name} oai-{service.name}")
        return "\n".join(rows) + "\n"

    def _network(self, service: Service) -> list[str]:
        if service.host_network:
            return ["lxc.net.0.type = none"]
        lines = []
        for number, (network, address) in enumerate(service.addresses.items()):
            prefix = _NETWORKS[network].network.prefixlen
            lines += [
                f"lxc.net.{number}.type = veth",
                f"lxc.net.{number}.link = {self._bridge(network)}",
                f"lxc.net.{number}.name = eth{number}",
                f"lxc.net.{number}.mtu = {_MTU_BYTES}",
                f"lxc.net.{number}.ipv4.address = {address}/{prefix}",
                f"lxc.net.{number}.flags = up",
            ]
        return lines


def _command(service: Service, image: oci_images.OciImage) -> list[str]:
    if service.command:
        return [*image.entrypoint, *service.command]
    return list(image.command)


def _environment(service: Service, image: oci_images.OciImage) -> list[str]:
    return [*image.environment, *(f"{key}={value}" for key, value in service.environment.items())]


def _capabilities(service: Service) -> list[str]:
    names = " ".join(name.lower() for name in service.capabilities) or "none"
    # An empty drop clears that of common.conf: LXC refuses both lists together.
    return ["lxc.cap.drop =", f"lxc.cap.keep = {names}"]


def _device_rules(service: Service) -> list[str]:
    """Return the rules by which the container may open its devices, beside those of common.conf."""
    numbers = sorted({number for device in service.devices for number in _numbers(Path(device))})
    return [
        f"lxc.{cgroup}.devices.allow = c {number} rwm"
        for cgroup in ("cgroup", "cgroup2")
        for number in numbers
    ]


def _numbers(device: Path) -> set[str]:
    """Return the numbers of a character device, or of those in a folder, whose minor ones change,
    as a USRP's does when it has loaded its firmware."""
    if not device.is_dir():
        number = device.stat().st_rdev
        return {f"{os.major(number)}:{os.minor(number)}"}
    inside = (one for one in device.rglob("*") if one.is_char_device())
    return {f"{os.major(one.stat().st_rdev)}:*" for one in inside}


def _mounts(service: Service, folder: Path) -> list[str]:
    entries = [
        f"{folder / 'hosts'} etc/hosts none bind,ro,create=file 0 0",
        f"{folder / 'start'} {_STARTER.lstrip('/')} none bind,ro,create=file 0 0",
        f"{folder / 'printed.log'} {_OUTPUT.lstrip('/')} none bind,rw,create=file 0 0",
    ]
    for source, target in service.mounts:
        entries.append(f"{source} {target.lstrip('/')} none bind,ro,create=file 0 0")
    for device in service.devices:
        kind = "dir" if Path(device).is_dir() else "file"
        entries.append(f"{device} {device.lstrip('/')} none rbind,create={kind} 0 0")
    return entries
