# SPDX-License-Identifier: Apache-2.0
"""The contract of a kind of traffic (docs/extending.md).

A kind is a folder, here or in another package, with an instance of a subclass of `TrafficDriver`
that an entry point of the group `ccu.traffic` names. Nothing outside the folder knows the name.

Each flow has two programs, a receiver and a sender, which the driver gives as commands: in real
time they are started on the testbed's hosts, in virtual time they are part of a plan.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from ccu.host.contain import Rights, contained
from ccu.host.setup import Setup
from ccu.spec import traffic as registry
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.flow_plan import FlowPlan
from ccu.spec.traffic import TrafficOptions
from ccu.traffic.flow import Flow, FlowHosts, Host

End = Literal["receiver", "sender"]

LISTENING_S = 1.0
"""The time in which a receiver must listen in real time, where nothing shows it."""
# For the end of a flow and the exchange of results over a full queue, with a margin.
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Command:
    """The program of one end of a flow."""

    name: str
    """Unique in the run, for logs and messages."""
    arguments: Sequence[str]
    output: str | None = None
    """The file in raw/ for its standard output; None: the log."""
    rights: Rights | None = None
    """The rights of a program that a user wrote, which runs contained; None: it is not one."""


class RunningHosts(FlowHosts, Protocol):
    """The hosts of a testbed that is up."""

    def command(self, host: Host, arguments: Sequence[str]) -> list[str]:
        """Return the command that runs `arguments` on a host."""
        ...

    def congestion_control(self, host: Host, port: int) -> str | None:
        """Return the one that the connection with local `port` uses now, if there is one."""
        ...

    def listens(self, host: Host, port: int) -> bool:
        """Return whether a TCP socket waits for connections on `port`."""
        ...


def read_report(file: Path, of: str) -> dict[str, Any]:
    """Return the JSON report of a program. Raises RunFailed if it is incomplete or has an error."""
    try:
        content: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise RunFailed("traffic", f"{of}: the report is incomplete ({error})") from None
    if "error" in content:
        raise RunFailed("traffic", f"{of}: {content['error']}")
    return content


class TrafficDriver:
    """A kind of traffic.

    The module of a driver is imported by most commands of ccu: what takes long to import is
    imported in the methods.
    """

    summary: str
    """A line of `ccu list traffic`."""
    options: type[TrafficOptions]
    needs: ClassVar[tuple[str, ...]] = ()
    """Programs of this machine that its commands run."""
    only_on: ClassVar[str | None] = None
    """The only testbed that carries it; None: each whose hosts run programs of users
    (`Driver.runs_programs`)."""
    runs_everywhere: ClassVar[bool] = False
    """Its programs run on the hosts of every testbed that has hosts of ours."""
    listens_on_tcp: ClassVar[bool] = False
    """Its receivers listen on TCP when they are ready; else they get LISTENING_S."""
    is_built_in: ClassVar[bool] = False
    """The traffic program of nr-link makes its flows in virtual time, as `built_in` says."""
    clock_step_ns: ClassVar[int | None] = None
    """The step of virtual time when a process reads it, for programs that poll the clock; None:
    as far as is usual."""

    def check(self, experiment: Experiment, traffic: TrafficOptions) -> None:
        """Refuse values and files that cannot work, on any testbed; execute nothing that a user
        wrote."""

    def try_out(self, traffic: TrafficOptions) -> None:
        """Execute what a user wrote of it, contained, as far as it shows whether it can run. Raises
        RefusedError."""

    def implementation(self, traffic: TrafficOptions) -> dict[str, Any] | None:  # noqa: ARG002
        """Return what run.json says of the congestion control that it brings; None: nothing."""
        return None

    def flow(
        self, experiment: Experiment, plan: FlowPlan, number: int, ue: int, direction: Direction
    ) -> Flow:
        """Return a flow, known before anything starts."""
        traffic = traffic_of(experiment, plan)
        lasts_s = round(experiment.duration_s - plan.start_s)
        starts_s = experiment.starts_s(plan, number)
        return Flow(number, plan.cc, direction, starts_s, lasts_s, traffic, ue)

    def prepare(self, experiment: Experiment, flows: Sequence[Flow], raw: Path) -> None:
        """Make the files that the programs of its flows need, once for a run, before anything
        starts."""

    def commands(
        self, experiment: Experiment, flow: Flow, hosts: FlowHosts, raw: Path
    ) -> Mapping[End, Command]:
        """Return the programs of both ends, which end by themselves; `raw` is the run's folder for
        raw data as the programs reach it."""
        raise NotImplementedError

    def built_in(self, experiment: Experiment, flow: Flow) -> dict[str, Any]:
        """Return what only this kind says of a flow to the traffic program of nr-link
        (docs/virtual-time.md, `flows`)."""
        raise NotImplementedError

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:
        """Put what the programs report, or captures, into the flow: `counted_bytes`, `counted_s`
        and `cc_read_back`. Raises RunFailed."""
        raise NotImplementedError

    def failure(self, flow: Flow, end: End, code: int, raw: Path) -> str:  # noqa: ARG002
        """Return why a program of a flow in virtual time ended with a code that is not 0."""
        return f"the {end} ended with code {code}"

    def trace(self, flow: Flow) -> str | None:  # noqa: ARG002
        """Return the file in raw/ for the records of a flow's congestion control that it brings
        (docs/run-directory.md, raw/cc-NAME.csv); None: it records nothing."""
        return None

    def problems(self, flow: Flow) -> list[str]:  # noqa: ARG002
        """Return sentences; with any, the run is degraded."""
        return []

    # In real time.
    def listen(self, site: Setup, testbed: RunningHosts, flows: Sequence[Flow]) -> None:
        """Start the ends that wait, until they listen; `flows` are those of this kind."""
        for flow in flows:
            self._start(site, testbed, flow, "receiver")
        if not self.listens_on_tcp:
            time.sleep(LISTENING_S)
            return
        for flow in flows:
            assert flow.receiver is not None
            host, port = flow.receiver_host(testbed), flow.listening_port
            listens = partial(testbed.listens, host, port)
            site.supervisor.wait_for(flow.receiver, listens, f"listening on port {port}")

    def connect(self, site: Setup, testbed: RunningHosts, flow: Flow) -> None:
        """Start the end that connects."""
        self._start(site, testbed, flow, "sender")

    def look(
        self,
        site: Setup,  # noqa: ARG002
        testbed: RunningHosts,
        flow: Flow,
        started_s: float,
    ) -> None:
        """Look at the flow; called repeatedly from `connect` on, `started_s` on the monotonic
        clock. Raises RunFailed when the flow cannot end well."""
        if flow.client is None or flow.client.ended:
            return
        if flow.wrong_cc():
            # A program sets it after it has connected: an early answer may be the host's default.
            host, port = flow.sender_host(testbed), flow.sending_port
            flow.cc_read_back = testbed.congestion_control(host, port) or flow.cc_read_back
        limited = flow.traffic.most_bytes is not None
        patience_s = 0.0 if limited else _PATIENCE_S
        if time.monotonic() > started_s + flow.duration_s + patience_s:
            raise RunFailed("traffic", too_long(flow))

    def finished(self, flow: Flow) -> bool:
        """Return whether both ends have ended."""
        return all(one is not None and one.ended for one in (flow.client, flow.receiver))

    def _start(self, site: Setup, testbed: RunningHosts, flow: Flow, end: End) -> None:
        command = self.commands(site.experiment, flow, testbed, site.raw.resolve())[end]
        receives = end == "receiver"
        host = flow.receiver_host(testbed) if receives else flow.sender_host(testbed)
        process = site.supervisor.start(
            command.name,
            testbed.command(host, _words(command)),
            stage="traffic",
            output=site.raw / command.output if command.output else None,
            lasting=False,
        )
        if receives:
            flow.receiver = process
        else:
            flow.client = process


def _words(command: Command) -> Sequence[str]:
    if command.rights is None:
        return command.arguments
    return contained(command.arguments, command.rights)


def too_long(flow: Flow) -> str:
    """Return what is wrong with a flow that does not end."""
    volume = flow.traffic.most_bytes
    if volume is None:
        return f"flow {flow.id} timed out"
    return (
        f"flow {flow.id} has not sent its {volume / 1e6:g} MB within {flow.duration_s} s. "
        "Choose a longer --duration"
    )


def drivers() -> dict[str, TrafficDriver]:
    """Return every kind's driver by its name."""
    return registry.kinds()


def driver_of(traffic: TrafficOptions) -> TrafficDriver:
    """Return the driver of a kind."""
    return drivers()[traffic.kind]


def traffic_of(experiment: Experiment, plan: FlowPlan) -> TrafficOptions:
    """Return what a flow sends: what its testbed alone can, what it says, or what all do."""
    own = next((one for one in drivers().values() if one.only_on == experiment.testbed.name), None)
    return own.options(kind=name_of(own)) if own else experiment.traffic_of(plan)


def name_of(driver: TrafficDriver) -> str:
    """Return the name of a kind."""
    return next(name for name, one in drivers().items() if one is driver)


def plan(experiment: Experiment) -> list[Flow]:
    """Return the flows in the experiment's order, in each of its directions."""
    flows: list[Flow] = []
    for index, one in enumerate(experiment.flows):
        ue = one.ue or index % experiment.ues + 1
        driver = driver_of(traffic_of(experiment, one))
        for direction in experiment.directions:
            # What has changed before a flow starts holds for it.
            begins = experiment.at(experiment.starts_s(one, len(flows))).flows[index]
            flows.append(driver.flow(experiment, begins, len(flows), ue, direction))
    return flows


def by_driver(flows: Sequence[Flow]) -> list[tuple[TrafficDriver, list[Flow]]]:
    """Return the flows of each kind together."""
    by_kind: dict[str, list[Flow]] = {}
    for flow in flows:
        by_kind.setdefault(flow.traffic.kind, []).append(flow)
    return [(drivers()[kind], some) for kind, some in by_kind.items()]


def of_experiment(experiment: Experiment) -> list[TrafficOptions]:
    """Return what the flows send, each once."""
    return list(dict.fromkeys(traffic_of(experiment, one) for one in experiment.flows))


def needs(experiment: Experiment) -> list[str]:
    """Return the programs of this machine that the traffic needs in real time, each once."""
    used = (driver_of(one) for one in of_experiment(experiment))
    return list(dict.fromkeys(name for driver in used for name in driver.needs))


def every_program() -> list[str]:
    """Return the programs that any kind needs, each once."""
    return list(dict.fromkeys(name for one in drivers().values() for name in one.needs))


def try_out(experiment: Experiment) -> None:
    """Execute what users wrote of the traffic, as far as it shows whether it can run. Raises
    RefusedError."""
    for one in of_experiment(experiment):
        driver_of(one).try_out(one)


def implementations(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Return what run.json says of the congestion controls that kinds of traffic bring, by name."""
    by_cc = {}
    for one in experiment.flows:
        traffic = traffic_of(experiment, one)
        if (said := driver_of(traffic).implementation(traffic)) is not None:
            by_cc[one.cc] = said
    return by_cc


def traces(flows: Sequence[Flow], raw: Path) -> list[dict[str, str]]:
    """Return run.json's `cc_traces` of congestion controls that kinds of traffic bring."""
    named = ((flow, driver_of(flow.traffic).trace(flow)) for flow in flows)
    return [
        {"cc": flow.cc, "file": f"raw/{file}"}
        for flow, file in named
        if file and (raw / file).exists()
    ]


def received(flows: Sequence[Flow]) -> dict[Direction, int]:
    """Return the payload that has arrived in each direction."""
    counted: dict[Direction, int] = {}
    for flow in flows:
        counted[flow.direction] = counted.get(flow.direction, 0) + (flow.counted_bytes or 0)
    return counted
