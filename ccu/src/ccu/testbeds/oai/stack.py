# SPDX-License-Identifier: Apache-2.0
"""The start of OpenAirInterface up to a UE that pings, in stages, each with its ready condition."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pyroute2 import IPRoute, netns
from pyroute2.netlink.exceptions import NetlinkError

from ccu.host import listening, programs
from ccu.host.namespace import AttachedNetwork
from ccu.host.resources import Resources
from ccu.host.supervisor import Process, Supervisor
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai import container_file
from ccu.testbeds.oai.configs import RECONFIGURATION, TELNET_PORT, Plan
from ccu.testbeds.oai.gnb_files import places_of
from ccu.testbeds.oai.runtime import Runtime
from ccu.testbeds.oai.services import DATA_NETWORK, core_of, server_of
from ccu.testbeds.oai.symptoms import hints
from ddu.console.colours import uncoloured

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
_CORE_PATIENCE_S, _GNB_PATIENCE_S, _ATTACH_PATIENCE_S = 120.0, 60.0, 60.0
# A radio that waits for its modems takes as long as the machine makes them.
_SLOW_ATTACH_PATIENCE_S = 240.0
_POLL_S = 0.01
# A container that does not run by then has already ended.
_STARTING_S = 2.0
# The reader of a container's log ends later than its process, on a busy machine by seconds.
_FOLLOWER_S = 10.0
# What a container that runs has printed is read by then.
_READING_S = 0.3
# Characters of another service's log that may explain a failure.
_LOG_END = 20_000
_AF_INET = 2


class BesideGnb(Protocol):
    """A program that connects to the gNB when it listens, and that the UEs connect to."""

    def start(self, plan: Plan) -> None: ...

    def attach(self, stack: Stack) -> None:
        """A UE has been started, and will connect."""

    def stop(self) -> None: ...


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
        beside_gnb: BesideGnb | None = None,
    ) -> None:
        self.plan = plan
        self.runtime = runtime
        self._supervisor = supervisor
        self._resources = resources
        self._logs = logs
        self._beside_gnb = beside_gnb
        self.notes: list[str] = []
        """Sentences on what the start needed."""
        self._followers: dict[str, Process] = {}
        self.namespaces: dict[str, str] = {}
        """The name of each service's network for `ip netns`."""
        self._core = core_of(plan)
        self._server = server_of(plan)

    def up(self) -> None:
        """Start core, data network and gNB, then each UE until it pings. Raises RunFailed."""
        if self._core:
            self._start_core()
        self._start_gnb()
        if (missing := self._attach_ues()) is None:
            return
        # A UE whose random access has failed (`RAR reception failed`) never attaches to that gNB,
        # and 2026.w11 ends now and then while a UE attaches (it prints from a message that it has
        # given away, ngap_gNB_handle_initial_context_request).
        cause = "did not attach" if self._gnb_runs() else "was lost, as the gNB ended,"
        self.notes.append(f"UE {missing} {cause} at first: gNB and UEs were started again")
        self._stop_radio()
        self._start_gnb()
        if missing := self._attach_ues():
            again = "also when gNB and UEs were started again"
            last_lines = self._last_lines(self.plan.ue_service(missing))
            raise RunFailed("attach", f"UE {missing} did not attach, {again}{last_lines}")

    def _start_core(self) -> None:
        """Start the core and the data network. From here on, a function that ends fails the run."""
        # A function that does not find the database ends, and one that does not find the NRF waits
        # for seconds until it tries again.
        database, nrf, *others = self._core
        for stage in ([database, DATA_NETWORK], [nrf], others):
            self._start(stage)
            functions = [service for service in stage if service != DATA_NETWORK]
            for service in functions:
                self._follow(service, f"{service}-stdout.log", stage="core")
            for service in functions:
                port, protocol = _CORE_PORTS.get(service, _OPEN5GS_PORT)
                self._wait_listening(service, port, protocol, _CORE_PATIENCE_S)
        self.namespace_of(DATA_NETWORK)

    def _start_gnb(self) -> None:
        service = self.plan.gnb_service
        began_s = time.time()
        self._start_again_or_first(service)
        self._follow(service, "gnb-stdout.log")
        ports = [TELNET_PORT, *([] if self.plan.usrp else [RFSIM_PORT])]
        for port in ports:
            self._wait_listening(service, port, "tcp", _GNB_PATIENCE_S)
        if not self.plan.usrp:
            self.namespace_of(service)
        if self.plan.core == "none":
            self._pass_configuration(service, began_s)
        if self._beside_gnb:
            self._beside_gnb.start(self.plan)

    def _start_again_or_first(self, service: str) -> None:
        """Start a container, which may have run before."""
        if service in self._followers:
            self._detach_namespace(service)
            self.runtime.restart(service)
        else:
            self._start([service])

    def _start(self, services: Sequence[str]) -> None:
        try:
            self.runtime.start(services)
        except RunFailed:
            # Ctrl-C ends a program that unpacks an image as well: then it is the cause.
            self._supervisor.check()
            raise

    def _stop_radio(self) -> None:
        """Stop gNB and UEs, to be started again."""
        radio = [service for service in self._radio() if service in self._followers]
        for service in radio:
            self._followers[service].stopped = True
        if self._beside_gnb:
            self._beside_gnb.stop()
        self.runtime.stop(radio)

    def _radio(self) -> list[str]:
        """Return the services of UEs and gNB, in the order in which they are stopped."""
        ues = map(self.plan.ue_service, self.plan.ue_numbers)
        return [*ues, self.plan.gnb_service]

    def _pass_configuration(self, service: str, began_s: float) -> None:
        """Copy the files by which a gNB without a core configures the UE, written since `began_s`,
        to where the UE mounts them."""
        for name in RECONFIGURATION:
            deadline = time.monotonic() + _GNB_PATIENCE_S
            while (content := self._content_of(service, name, began_s)) is None:
                self._check(spared=service)
                if time.monotonic() > deadline:
                    rule = f"{service}: did not write {name}, which the UE needs without a core"
                    raise RunFailed("containers", rule + self._last_lines(service))
                time.sleep(_POLL_S)
            (self._logs / "config" / name).write_bytes(content)

    def _content_of(self, service: str, name: str, began_s: float) -> bytes | None:
        """Return what a container has written into a file of its working folder since `began_s`."""
        pid = self.runtime.pid(service)
        for place in places_of(name):
            with contextlib.suppress(OSError), container_file.opened(pid, place) as file:
                written = os.fstat(file.fileno())
                if written.st_size and written.st_mtime >= began_s:
                    return file.read()
        return None

    def _attach_ues(self) -> int | None:
        """Attach all UEs in turn; return the number of one that does not attach, if there is
        one."""
        numbers = self.plan.ue_numbers
        return next((number for number in numbers if not self._attach_ue(number)), None)

    def _attach_ue(self, number: int) -> bool:
        """Attach a UE, with a second try if it has ended, as a UE sometimes aborts at its start."""
        service = self.plan.ue_service(number)
        self._start_ue(service)
        if self._wait_attached(service, number):
            return True
        if self.runtime.pid(service) is not None or not self._gnb_runs():
            return False
        self._start_ue(service)
        return self._wait_attached(service, number)

    def _start_ue(self, service: str) -> None:
        self._start_again_or_first(service)
        if self._beside_gnb:
            self._beside_gnb.attach(self)

    def gnb_pid(self) -> int | None:
        """Return the gNB's process; None if it does not run."""
        return self.runtime.pid(self.plan.gnb_service)

    def _gnb_runs(self) -> bool:
        return self.gnb_pid() is not None

    def _wait_attached(self, service: str, number: int) -> bool:
        self._follow(service, f"ue{number - 1}-stdout.log")
        patience_s = _SLOW_ATTACH_PATIENCE_S if self._beside_gnb else _ATTACH_PATIENCE_S
        deadline = time.monotonic() + patience_s / 2
        address = None
        while time.monotonic() < deadline:
            try:
                self._check(spared=service)
            except RunFailed:
                if self.notes or self._gnb_runs():
                    raise
                return False
            if self.runtime.pid(service) is None:
                return False
            name = self.namespace_of(service)
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
            self.check_radio(_FOLLOWER_S)  # Of a UE that ends, the address goes first.
            raise RunFailed("attach", f"UE {number} has lost its address")
        return address

    def _wait_listening(self, service: str, port: int, protocol: str, patience_s: float) -> None:
        began_s = time.monotonic()
        while True:
            self._check(spared=service)
            pid = self.runtime.pid(service)
            # Others cannot reach the loopback interface.
            if pid is not None and listening.addresses(port, protocol, pid) - {listening.LOOPBACK}:
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
        # The log's reader ends with code 0 however the container did.
        self._followers[service].how_it_ended = lambda: self.runtime.how_it_ended(service)

    def _last_lines(self, service: str) -> str:
        """Return the service's last lines of output; start to follow its log if needed."""
        if service not in self._followers:
            self._follow(service, f"{service}-stdout.log")
        self._await_output(service)
        printed = self._followers[service].output.read_text(errors="replace")
        lines = uncoloured(printed).splitlines()[-8:]
        last_lines = "".join(f"\n  {line}" for line in lines)
        # The cause may be in the log of another service: a UE only waits where the gNB refuses it.
        others = [one.output for one in self._followers.values() if not one.ended]
        ends = [uncoloured(file.read_text(errors="replace"))[-_LOG_END:] for file in others]
        causes = "".join(f"\n  {hint}" for hint in hints("\n".join([*lines, *ends])))
        return ":" + last_lines + causes if lines else " and printed nothing"

    def _await_output(self, service: str) -> None:
        """Wait until what the container has printed is read: all of it, if it has ended."""
        if self.runtime.pid(service) is None:
            self._await_end(self._followers[service])
        else:
            time.sleep(_READING_S)

    def namespace_of(self, service: str) -> str:
        """Return a name for the network of a service, so that our programs can run in it."""
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

    def check_radio(self, ending_s: float = 0.0) -> None:
        """Raise RunFailed with the last lines of a gNB or UE that has ended, or that ends within
        `ending_s`, if there is one."""
        deadline = time.monotonic() + ending_s
        while not (ended := self._ended_radio()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        for service in ended:
            self._await_end(self._followers[service])
        self._supervisor.check()

    @contextlib.contextmanager
    def in_networks(self) -> Iterator[None]:
        """Work in networks that go with their containers. Raises RunFailed if one does, which then
        says which container ended."""
        try:
            yield
        except (NetlinkError, OSError, IndexError, StopIteration) as error:
            self.check_radio(_FOLLOWER_S)
            raise RunFailed("testbed", f"the network of a container is gone: {error}") from error

    def _ended_radio(self) -> list[str]:
        return [service for service in self._radio() if self.runtime.pid(service) is None]

    def stop_following(self) -> None:
        """Stop to follow the logs; the containers stay up."""
        for follower in self._followers.values():
            self._supervisor.stop(follower)

    def down(self) -> None:
        """Stop the radio first, so that its logs are complete, then remove everything."""
        for follower in self._followers.values():
            follower.stopped = True
        started = [service for service in self._radio() if service in self._followers]
        try:
            if started:
                self.runtime.stop(started)
            self._keep_core_logs()
            for follower in self._followers.values():
                self._let_end(follower)
        finally:
            for service in list(self.namespaces):
                self._detach_namespace(service)
            # What the runtime cannot remove stays in the record, and does not spoil the run.
            self._resources.remove(*self.runtime.resources())

    def _keep_core_logs(self) -> None:
        """Keep the core's logs, which contain the reason for a refused UE."""
        running = [service for service in self._core if self.runtime.pid(service) is not None]
        if running:
            self.runtime.stop(running)

    def _let_end(self, follower: Process) -> None:
        """End a follower when it has read the last output."""
        self._await_end(follower)
        self._supervisor.stop(follower)

    def _await_end(self, follower: Process) -> None:
        """Wait for a follower, which ends after its container."""
        deadline = time.monotonic() + _FOLLOWER_S
        while not follower.ended and time.monotonic() < deadline:
            time.sleep(_POLL_S)


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
