# SPDX-License-Identifier: Apache-2.0
"""The start of OpenAirInterface up to a UE that pings, in stages, each with its ready condition."""

from __future__ import annotations

import contextlib
import ipaddress
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from pyroute2 import IPRoute, netns
from pyroute2.netlink.exceptions import NetlinkError

from ccu.host import programs
from ccu.host.namespace import AttachedNetwork
from ccu.host.resources import Resources
from ccu.host.supervisor import Process, Supervisor
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai.configs import RECONFIGURATION, TELNET_PORT, Plan
from ccu.testbeds.oai.runtime import Runtime, listens
from ccu.testbeds.oai.services import DATA_NETWORK, core_of, server_of

UE_INTERFACE = "oaitun_ue1"
# A core function is ready when it listens. A database's first start, which fills it, does not
# count: MySQL has no network then, and MongoDB only the loopback interface.
_CORE_PORTS = {
    "mysql": (3306, "tcp"),
    "nrf": (80, "tcp"),
    "amf": (80, "tcp"),
    "smf": (80, "tcp"),
    "upf": (8805, "udp"),
    "mongodb": (27017, "tcp"),
    # All others of Open5GS listen on _OPEN5GS_PORT.
    "open5gs-upf": (8805, "udp"),
}
_OPEN5GS_PORT = (7777, "tcp")
RFSIM_PORT = 4043
_WORKING_FOLDERS = ("opt/oai-gnb", "")
_CORE_PATIENCE_S, _GNB_PATIENCE_S, _ATTACH_PATIENCE_S, _PING_PATIENCE_S = 120.0, 60.0, 60.0, 15.0
_POLL_S = 0.01
# A container that does not run by then has already ended.
_STARTING_S = 2.0
_FOLLOWER_S = 3.0
# Characters of another service's log that may explain a failure.
_LOG_END = 20_000
_AF_INET = 2
# Text of the log, and its meaning with the fix.
_SYMPTOMS = (
    ("Expected FPGA compatibility", "the USRP's image is of another UHD. Use uhd_image_loader"),
    ("No devices found", "no USRP was found. Check cable and address with uhd_find_devices"),
    ("LIBUSB_ERROR", "the USRP's USB is not reachable. Check /dev/bus/usb and its permissions"),
    ("unknown option", "this version has other options. Give the image's --oai-version"),
    (
        "Protocol not supported",
        "the kernel has no SCTP, which gNB and AMF need. Type: sudo modprobe sctp",
    ),
    (
        "exceeded RA window",
        "the gNB answers random access too late. Give the image's --oai-version",
    ),
    (
        "Error in pthread_create(): ret: 1,",
        "the container may not have real-time priority. See ccu doctor --testbed rfsim",
    ),
    (
        "No configuration file",
        "the image wants its configuration elsewhere. Give the image's --oai-version",
    ),
    ("No AMF is associated", "the gNB reaches no AMF. See the AMF's log in raw/oai/"),
    ("Illegal instruction", "the image was built for CPUs with AVX2 or AVX-512"),
    ("Registration reject", "the core does not know the SIM. Check that the database was filled"),
    (
        "PDU Session Establishment reject",
        "the core assigned no address. Check that its pool is not exhausted",
    ),
)


class Stack:
    """The services of one plan. A wait that times out is reported with the last lines of the
    log."""

    def __init__(
        self,
        plan: Plan,
        runtime: Runtime,
        supervisor: Supervisor,
        resources: Resources,
        logs: Path,
        report: Callable[[str], None] = lambda _: None,
        when_gnb_listens: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan = plan
        self.runtime = runtime
        self._supervisor = supervisor
        self._resources = resources
        self._logs = logs
        self._report = report
        self._when_gnb_listens = when_gnb_listens
        self._followers: dict[str, Process] = {}
        self.namespaces: dict[str, str] = {}
        """The name of each service's network for `ip netns`."""
        self._core = core_of(plan)
        self._server = server_of(plan)

    def up(self) -> None:
        """Start core, data network and gNB, then each UE until it pings. Raises RunFailed."""
        if self._core:
            self._start_core()
        self._report("starting the gNB")
        self._start_gnb()
        self._when_gnb_listens()
        for number in range(1, self.plan.ue_count + 1):
            self._report(f"attaching UE {number}")
            self._attach_ue(number)

    def _start_core(self) -> None:
        """Start the core and the data network. From here on, a function that ends fails the run."""
        self._report("starting the core")
        # A function that does not find the database ends, and one that does not find the NRF waits
        # for seconds until it tries again.
        database, nrf, *others = self._core
        for stage in ([database, DATA_NETWORK], [nrf], others):
            self.runtime.start(stage)
            functions = [service for service in stage if service != DATA_NETWORK]
            for service in functions:
                self._follow(service, f"{service}-stdout.log", stage="core")
            for service in functions:
                port, protocol = _CORE_PORTS.get(service, _OPEN5GS_PORT)
                self._wait_listening(service, port, protocol, _CORE_PATIENCE_S)
        self._attach_namespace(DATA_NETWORK)

    def _start_gnb(self) -> None:
        service = self.plan.gnb_service
        self.runtime.start([service])
        self._follow(service, "gnb-stdout.log")
        ports = [TELNET_PORT, *([] if self.plan.usrp else [RFSIM_PORT])]
        for port in ports:
            self._wait_listening(service, port, "tcp", _GNB_PATIENCE_S)
        if not self.plan.usrp:
            self._attach_namespace(service)
        if self.plan.core == "none":
            self._pass_configuration(service)

    def _pass_configuration(self, service: str) -> None:
        """Copy the files by which a gNB without a core configures the UE to where the UE mounts
        them."""
        for name in RECONFIGURATION:
            deadline = time.monotonic() + _GNB_PATIENCE_S
            while (file := self._file_of(service, name)) is None:
                self._check(spared=service)
                if time.monotonic() > deadline:
                    rule = f"{service}: did not write {name}, which the UE needs without a core"
                    raise RunFailed("containers", rule + self._last_lines(service))
                time.sleep(_POLL_S)
            (self._logs / "config" / name).write_bytes(file.read_bytes())

    def _file_of(self, service: str, name: str) -> Path | None:
        """Return a complete file in the working folder of a container, if there is one."""
        pid = self.runtime.pid(service)
        for folder in _WORKING_FOLDERS:
            file = Path(f"/proc/{pid}/root", folder, name)
            with contextlib.suppress(OSError):
                if file.stat().st_size:
                    return file
        return None

    def _attach_ue(self, number: int) -> None:
        """Attach a UE, with a second try, as a UE sometimes aborts at its start."""
        service = self.plan.ue_service(number)
        self.runtime.start([service])
        if self._wait_attached(service, number):
            return
        self._report(f"UE {number} did not attach; trying again")
        self._detach_namespace(service)
        self.runtime.restart(service)
        if not self._wait_attached(service, number):
            raise RunFailed("attach", f"UE {number} did not attach{self._last_lines(service)}")

    def _wait_attached(self, service: str, number: int) -> bool:
        self._follow(service, f"ue{number - 1}-stdout.log")
        deadline = time.monotonic() + _ATTACH_PATIENCE_S / 2
        address = None
        while time.monotonic() < deadline:
            self._check(spared=service)
            if self.runtime.pid(service) is None:
                return False
            name = self._attach_namespace(service)
            if address is None and has_interface(self.runtime.pid(service), UE_INTERFACE):
                address = interface_address(name, UE_INTERFACE)
            if address and self._pings(service, address):
                return True
            time.sleep(_POLL_S)
        return False

    def _pings(self, service: str, address: str) -> bool:
        name = self.namespaces[service]
        if not set_route(name, self._server.address, UE_INTERFACE):
            return False
        command = [programs.require("ip"), "netns", "exec", name, programs.require("ping")]
        command += ["-c", "1", "-W", "1", "-q", "-I", address, self._server.address]
        return subprocess.run(command, capture_output=True).returncode == 0

    def ue_address(self, number: int = 1) -> str:
        """Return the address that the core assigned to the UE. Raises RunFailed."""
        address = interface_address(self.namespaces[self.plan.ue_service(number)], UE_INTERFACE)
        if address is None:
            raise RunFailed("attach", f"UE {number} has lost its address")
        return address

    def _wait_listening(self, service: str, port: int, protocol: str, patience_s: float) -> None:
        began_s = time.monotonic()
        while True:
            self._check(spared=service)
            pid = self.runtime.pid(service)
            if pid is not None and listens(pid, port, protocol):
                return
            waited_s = time.monotonic() - began_s
            if pid is None and waited_s > _STARTING_S:
                raise RunFailed("containers", f"{service} has ended{self._last_lines(service)}")
            if waited_s > patience_s:
                raise RunFailed(
                    "containers",
                    f"{service}: nothing listens on {protocol} port {port} after {patience_s:g} s"
                    f"{self._last_lines(service)}",
                )
            time.sleep(_POLL_S)

    def _check(self, spared: str) -> None:
        """Check that all other services run, and that there was no interrupt."""
        follower = self._followers.get(spared)
        if follower:
            follower.stopped = True
        try:
            self._supervisor.check()
        finally:
            if follower:
                follower.stopped = False

    def _follow(self, service: str, file: str, stage: str = "radio") -> None:
        if old := self._followers.get(service):
            self._supervisor.stop(old)
        self._followers[service] = self._supervisor.start(
            f"oai-{service}",
            self.runtime.log_command(service),
            stage=stage,
            output=self._logs / file,
        )

    def _last_lines(self, service: str) -> str:
        """Return the service's last lines of output; start to follow its log if needed."""
        if service not in self._followers:
            self._follow(service, f"{service}-stdout.log")
        time.sleep(0.3)
        lines = self._followers[service].output.read_text(errors="replace").splitlines()[-8:]
        last_lines = "".join(f"\n  {line}" for line in lines)
        # The cause may be in the log of another service: a UE only waits where the gNB refuses it.
        others = [one.output for one in self._followers.values() if not one.ended]
        ends = [file.read_text(errors="replace")[-_LOG_END:] for file in others]
        log = "\n".join([*lines, *ends]).casefold()
        hints = [f"\n  {hint}" for mark, hint in _SYMPTOMS if mark.casefold() in log]
        return ":" + last_lines + "".join(hints) if lines else " and printed nothing"

    def namespace_of(self, service: str) -> str:
        """Return a name for the network of any of the services."""
        return self._attach_namespace(service)

    def _attach_namespace(self, service: str) -> str:
        """Name the container's network, so that our programs can run in it."""
        if service in self.namespaces:
            return self.namespaces[service]
        pid = self.runtime.pid(service)
        if pid is None:
            raise RunFailed("containers", f"{service} does not run{self._last_lines(service)}")
        name = f"ccu-{self._resources.run_id}-{service}"
        self._resources.register(AttachedNetwork(name))
        netns.attach(name, pid)
        self.namespaces[service] = name
        return name

    def _detach_namespace(self, service: str) -> None:
        if name := self.namespaces.pop(service, None):
            self._resources.remove(AttachedNetwork(name))

    def stop_following(self) -> None:
        """Stop to follow the logs; the containers stay up."""
        for follower in self._followers.values():
            self._supervisor.stop(follower)

    def down(self) -> None:
        """Stop the radio first, so that its logs are complete, then remove everything."""
        for follower in self._followers.values():
            follower.stopped = True
        ues = [self.plan.ue_service(number) for number in range(1, self.plan.ue_count + 1)]
        started = [one for one in (*ues, self.plan.gnb_service) if one in self._followers]
        try:
            if started:
                self.runtime.stop(started)
            self._keep_core_logs()
            for follower in self._followers.values():
                self._let_end(follower)
        finally:
            for service in list(self.namespaces):
                self._detach_namespace(service)
            self.runtime.remove()

    def _keep_core_logs(self) -> None:
        """Keep the core's logs, which contain the reason for a refused UE."""
        running = [service for service in self._core if self.runtime.pid(service) is not None]
        if running:
            self.runtime.stop(running)

    def _let_end(self, follower: Process) -> None:
        """Wait for a follower, which ends after its container, so that the last output is kept."""
        deadline = time.monotonic() + _FOLLOWER_S
        while not follower.ended and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        self._supervisor.stop(follower)


def has_interface(pid: int | None, interface: str) -> bool:
    """Return whether the network of process `pid` has the interface: a cheap look into /proc."""
    try:
        text = Path(f"/proc/{pid}/net/dev").read_text()
    except OSError:
        return False
    return f"{interface}:" in text


def interface_address(name: str, interface: str) -> str | None:
    """Return the IPv4 address of `interface` in the network `name`; None while there is none."""
    with IPRoute(netns=name) as ip:
        indices = ip.link_lookup(ifname=interface)
        if not indices:
            return None
        for address in ip.get_addr(index=indices[0], family=_AF_INET):
            return str(ipaddress.ip_address(address.get("local") or address.get("address")))
    return None


def set_route(name: str, target: str, interface: str) -> bool:
    """Route `target` through `interface`; return False if that is missing or down."""
    with IPRoute(netns=name) as ip:
        indices = ip.link_lookup(ifname=interface)
        if not indices:
            return False
        try:
            ip.route("replace", dst=f"{target}/32", oif=indices[0])
        except NetlinkError:
            return False
    return True
