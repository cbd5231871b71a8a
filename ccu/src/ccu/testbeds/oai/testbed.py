# SPDX-License-Identifier: Apache-2.0
"""The testbed of OpenAirInterface in containers: over rfsim, or over two USRPs.

The programs of a run (of traffic, tcpdump, socket-sampler) are this machine's, in the containers'
networks: the images need none of them, and they are the same as on the emulated testbed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ccu.host import namespace, programs
from ccu.host.resources import Resources, readable_records
from ccu.host.supervisor import Supervisor
from ccu.host.testbed_logs import LogDirectory
from ccu.scenarios.link_config import copy_scenario
from ccu.scenarios.oai_channel_model import series
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.socket_buffers import socket_buffer_sysctls
from ccu.testbeds import Host, Site
from ccu.testbeds.namespaces import NamespaceHosts
from ccu.testbeds.oai import configs, mac_pcap, preflight, real_time, services
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.docker_runtime import DockerRuntime
from ccu.testbeds.oai.gnb_files import GnbFiles
from ccu.testbeds.oai.gnb_queries import Statistics
from ccu.testbeds.oai.lxc_runtime import LxcRuntime
from ccu.testbeds.oai.n3 import N3Capture
from ccu.testbeds.oai.options import oai_options
from ccu.testbeds.oai.path_delay import add_delay
from ccu.testbeds.oai.plans import plan_of
from ccu.testbeds.oai.radio_control import RadioControl
from ccu.testbeds.oai.runtime import Runtime
from ccu.testbeds.oai.services import server_of
from ccu.testbeds.oai.stack import UE_INTERFACE, BesideGnb, Stack
from ccu.testbeds.oai.verdict import real_time_verdict
from ddu.console.problems import refusal

_SYSCTLS = {"net.ipv4.tcp_no_metrics_save": "1"}


def check_machine(experiment: Experiment) -> None:
    """Raise RefusedError with all problems, before a container is started."""
    programs.require("ping")
    _refuse_beside_another()
    preflight.check_host(plan_of(experiment))
    images_check(experiment)()


def _refuse_beside_another() -> None:
    """Raise RefusedError while a testbed is up that was started manually: it has our addresses."""
    up = (one for one in readable_records() if one.of(LogDirectory))
    if any(not one.abandoned for one in up):
        raise refusal(
            "a testbed is up, which has the addresses that a run needs",
            "end it: ccu testbed down",
        )


def images_check(experiment: Experiment) -> Callable[[], None]:
    """Return a check that raises RefusedError if the runtime or an image is missing."""
    plan = plan_of(experiment)
    variables = {"OAI_VERSION": plan.version}  # It selects the images; nothing is written yet.
    return _runtime(experiment, plan, "ccu-check", variables, []).check


def _runtime(
    experiment: Experiment, plan: Plan, project: str, variables: dict[str, str], files: list[Path]
) -> Runtime:
    if oai_options(experiment).runtime == "lxc":
        return LxcRuntime(project, plan, _with_environment(variables))
    return DockerRuntime(project, files or [services.FILE], plan.profile, variables)


def _with_environment(variables: dict[str, str]) -> dict[str, str]:
    """Return the variables with the user's environment, as Compose does; ccu's take precedence."""
    given = {key: value for key, value in os.environ.items() if key.startswith("OAI_")}
    return given | variables


def stack_of(
    experiment: Experiment,
    folder: Path,
    resources: Resources,
    supervisor: Supervisor | None = None,
    beside_gnb: BesideGnb | None = None,
) -> Stack:
    """Return the containers of `experiment`, configured in `folder`; nothing runs yet."""
    plan = replace(plan_of(experiment), real_time=real_time.available())
    project = f"ccu-{resources.run_id}"
    variables = configs.write(plan, folder / "config") | {"CCU_RUN": resources.run_id}
    files = services.write_additions(plan, folder)
    runtime = _runtime(experiment, plan, project, variables, files)
    supervisor = supervisor or Supervisor(resources, folder.parent / "logs")
    return Stack(plan, runtime, supervisor, resources, folder, beside_gnb)


def prepare(site: Site, beside_gnb: BesideGnb | None = None) -> Stack:
    """Return the containers as `stack_of`, with their resources registered for removal."""
    folder = site.raw / "oai"
    folder.mkdir(exist_ok=True)
    stack = stack_of(site.experiment, folder, site.resources, site.supervisor, beside_gnb)
    site.resources.register(*stack.runtime.resources())
    return stack


@contextmanager
def up(site: Site) -> Iterator[OaiTestbed]:
    """Yield the path from the data network to the UE; it is removed afterwards."""
    experiment = site.experiment
    if experiment.testbed.name == "rfsim":  # Over the air no scenario is played.
        copy_scenario(site.scenario, site.raw)
    stack = prepare(site)
    try:
        stack.up()
        testbed = OaiTestbed(site, stack)
        try:
            try:
                testbed.begin()
            except RunFailed:
                # The cause may be a container that has ended.
                stack.check_radio()
                raise
            yield testbed
        finally:
            testbed.end()
    finally:
        stack.down()


class OaiTestbed(NamespaceHosts):
    """The running testbed."""

    records: dict[str, Any] = {  # noqa: RUF012 - never changed
        "mac": {"file": "raw/oai/nrMAC_stats.log", "source": "oai"},
        "link": {"file": "raw/oai/radio-time.csv", "source": "oai"},
        "link_summary": None,
    }

    def __init__(self, site: Site, stack: Stack) -> None:
        self._site = site
        self._stack = stack
        self._folder = site.raw / "oai"
        plan = stack.plan
        self._ues = {number: self.ue_host(number) for number in plan.ue_numbers}
        self._server = server_of(plan)
        names = {"server": stack.namespaces[self._server.service]}
        for number, host in self._ues.items():
            names[host] = stack.namespaces[plan.ue_service(number)]
        super().__init__(names)
        self._problems: list[str] = []
        with stack.in_networks():
            self.hosts = self._prepare_hosts()
        self._files = GnbFiles(stack.gnb_pid, self._folder)
        self._control: RadioControl | None = None
        self._statistics: Statistics | None = None
        self._n3: N3Capture | None = None
        self._ended = False
        self._stale = False
        if plan.usrp:
            self.records = {**self.records, "link": None}

    def _prepare_hosts(self) -> dict[Host, dict[str, Any]]:
        experiment = self._site.experiment
        hosts = {}
        for host, name in self.names.items():
            device = self._server.interface if host == "server" else UE_INTERFACE
            sysctls = namespace.set_sysctls(
                name, _SYSCTLS | socket_buffer_sysctls(experiment.socket_buffer)
            )
            namespace.set_mtu(name, device, experiment.mtu_bytes)
            hosts[host] = {**namespace.describe(name, device), "sysctls": sysctls}
        server = self.names["server"]
        for number, host in self._ues.items():
            address = self._stack.ue_address(number)
            preflight.check_route("server", server, address, self._server.interface)
            preflight.check_route(host, self.names[host], self._server.address, UE_INTERFACE)
        self._problems += add_delay(server, self._server.interface, experiment.rtt_ms)
        return hosts

    def begin(self) -> None:
        """Start to follow the gNB's files, and start the scenario."""
        plan, site = self._stack.plan, self._site
        self._files.start()
        if oai_options(site.experiment).capture_n3:
            self._n3 = N3Capture(site, self._stack)
        if plan.usrp is None:
            addresses = [configs.ue_address(number) for number in self._ues]
            settings = series(site.experiment)
            programs_first = site.supervisor.programs_first
            with programs_first():
                control = RadioControl(plan.gnb_address, addresses, settings, self._folder)
            self._control = control
            control.start()
            site.supervisor.watch(programs_first()(control.check))
        else:
            self._statistics = Statistics(plan.gnb_address, configs.TELNET_PORT, self._folder)
            self._statistics.start()

    def end(self) -> None:
        """Stop followers and replays, and restore the channel, once."""
        if self._ended:
            return
        self._ended = True
        with ExitStack() as ends:  # Each ends, whatever becomes of the others.
            ends.callback(self._files.finish)
            for part in (self._n3, self._statistics):
                if part:
                    ends.callback(part.finish)
            if self._control:
                self._problems += self._control.finish()

    def ue_host(self, ue: int) -> Host:
        return "ue" if ue == 1 else f"ue{ue}"

    def delivered_bytes(self, direction: Direction) -> int | None:
        return None if self._stale else self._files.mac_bytes(direction)

    def settle(self) -> dict[str, Any]:
        """Keep what the gNB has written, restore the channel, and compare the radio's time with
        wall time."""
        # The gNB writes its counters once per second: wait for the last ones.
        try:
            self._files.wait_for_counters()
        except TimeoutError:
            self._stale = True
            self._problems.append("the gNB's counters are older than the end of the traffic")
        if self._stack.plan.mac_pcap:
            blocks = self._folder / mac_pcap.NAME
            self._problems += mac_pcap.collect(self._stack.gnb_pid(), blocks)
        self.end()
        clock = self._control.clock if self._control else None
        verdict, reasons = real_time_verdict(clock)
        verdict = "degraded" if verdict == "valid" and self._problems else verdict
        queries = self._control or self._statistics
        notes = [*self._stack.notes, *(queries.notes if queries else [])]
        return {"verdict": verdict, "verdict_reasons": reasons + self._problems + notes}
