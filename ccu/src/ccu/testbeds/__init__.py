# SPDX-License-Identifier: Apache-2.0
"""The contract of a testbed driver (docs/extending.md).

A driver is a folder, here or in another package, with an instance of a subclass of `Driver` that an
entry point of the group `ccu.testbeds` names. Nothing outside the folder knows the name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from ccu import congestion, traffic
from ccu.host.findings import Finding
from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.spec import testbed as registry
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.option import Option
from ccu.spec.testbed import TestbedOptions
from ccu.traffic import RunningHosts, TrafficDriver
from ccu.traffic.flow import Flow
from ccu.traffic.flow import Host as Host
from ddu.console.problems import refusal

SHARED_CLOCK = {"offset_ns": 0, "offset_uncertainty_ns": 0}
"""The clock of hosts that share a kernel."""

# From the start of ccu to the traffic, and from its end to the verdict.
_AROUND_TRAFFIC_S = 3.0


@dataclass(frozen=True)
class Site:
    """The input of a testbed: the resolved experiment and the folders to write to."""

    experiment: Experiment
    scenario: Path
    raw: Path
    supervisor: Supervisor
    resources: Resources

    def as_of(self, name: str) -> Site:
        """See `ccu.host.setup.Setup`."""
        return replace(self, experiment=self.experiment.first_with(name))


class Testbed(RunningHosts, Protocol):
    """The path between the server and the UEs, while it is up."""

    hosts: dict[Host, dict[str, Any]]
    """The part of run.json for each host, as reported by the kernel."""
    records: dict[str, Any]
    """The keys `mac`, `link` and `link_summary` of run.json."""

    @property
    def clock(self) -> dict[str, Any]:
        """The keys `offset_ns` and `offset_uncertainty_ns` of run.json's `time`."""
        ...

    def delivered_bytes(self, direction: Direction) -> int | None:
        """Return what the radio's own counters say to have delivered; None if they do not say.

        Called after `settle`.
        """
        ...

    def start_changes(self) -> None:
        """Let the times of the link's changes count from now. Only if it can change."""
        ...

    def settle(self) -> dict[str, Any]:
        """Take the path down in order; return its own account (docs/run-directory.md)."""
        ...


@dataclass(frozen=True)
class Outcome:
    """The result of a testbed that performs whole runs itself."""

    records: dict[str, Any]
    """The keys of run.json, from `hosts` to `time`."""
    summary: dict[str, Any]
    """The link's own account (docs/run-directory.md)."""
    delivered_bytes: Callable[[Direction], int | None]
    """The hosts, as in `Testbed`."""


class WholeRun(Protocol):
    """Performs a whole run at once, from hosts to captures."""

    def __call__(self, site: Site, flows: Sequence[Flow], /) -> Outcome:
        """Run the experiment with these flows. Raises RunFailed, or Interrupted."""
        ...


class ManualTestbed(Protocol):
    """A testbed that stays up between commands (`ccu testbed`): a module, or an object."""

    def up(self, site: Site, /) -> list[str]:
        """Bring it up and leave it; return sentences on what that needed. If this raises, nothing
        stays."""
        ...

    def status(self, site: Site, /) -> list[tuple[str, str]]:
        """Return for each part what it does now."""
        ...

    def shell_command(self, site: Site, part: str, /) -> list[str]:
        """Return the command that opens a shell in a part. Raises RefusedError."""
        ...


class Driver:
    """A kind of testbed.

    The module of a driver is imported by most commands of ccu: what takes long to import is
    imported in the methods.
    """

    summary: str
    """A line of `ccu list testbeds`."""
    options: type[TestbedOptions]
    panel: str = ""
    """The heading above its options in `ccu run --help`; none: With --testbed NAME."""
    needs: tuple[str, ...] = ("ip",)
    """Programs of this machine, besides those of the traffic."""
    needs_root: bool = True
    preference: ClassVar[int] = 0
    """Among the testbeds of an experiment that names none, the highest first; 0: only by name."""
    preferred: Mapping[str, Any] = MappingProxyType({})
    """The options, by their YAML key, whose values are chosen for experiments that do not set
    them, where this machine can run them so; else, and in Python, it is the option's default."""
    own_kernel: bool = False
    """Its hosts have a kernel and captures of their own: those of this machine do not matter."""
    runs_programs: bool = False
    """Its hosts run the programs of every kind of traffic; else of those that run everywhere
    (`ccu.traffic.TrafficDriver`)."""
    repeatable: bool = False
    """The same experiment gives the same raw data, to the byte."""
    undisturbed: bool = False
    """Other work on the machine does not change its runs: several at a time are as good as one."""
    alone: ClassVar[str] = ""
    """The name of something that this machine can have only once at a time: other runs and
    campaigns that need the same wait. Empty: its runs can be at the same time."""
    machine_files: frozenset[str] = frozenset()
    """Files in raw/ of a repeatable run that describe the machine's work all the same."""
    elsewhere: ClassVar[Option | None] = None
    """A flag that names another machine, for `run_elsewhere`."""

    def variant(self, experiment: Experiment) -> Driver:  # noqa: ARG002
        """Return the driver for these options: itself, unless they change its kind."""
        return self

    def up(self, site: Site) -> AbstractContextManager[Testbed]:
        """Bring the path up; on exit, remove all that was made."""
        raise NotImplementedError

    def whole_run(self) -> WholeRun | None:
        """Return what performs a whole run; None for a path on which ccu runs programs (`up`)."""
        return None

    def check(self, experiment: Experiment, scenario: Path) -> None:
        """Refuse values that it cannot carry; `scenario` is the file. Touches nothing outside."""

    def carries(self, experiment: Experiment) -> None:
        """Refuse what another testbed may carry, whatever the machine: a congestion control."""
        if not self.own_kernel:
            congestion.check_names(experiment)

    def own_controls(self) -> frozenset[str]:
        """Return the congestion controls of its own kernel, where it has one and can run here."""
        return frozenset()

    def check_machine(self, experiment: Experiment) -> None:
        """Refuse a machine on which it cannot run: devices, ports, images."""

    def examine(self, experiment: Experiment) -> list[Finding]:  # noqa: ARG002
        """Return its part of `ccu doctor`, with the experiment's options; changes nothing."""
        return []

    def software(self) -> dict[str, str]:
        """Return the versions of what decides its runs besides programs that every run records."""
        return {}

    def lock(self, experiment: Experiment) -> str:
        """Return the name of the lock that a campaign of such runs holds; empty without one."""
        return self.alone or ("" if self.undisturbed else experiment.testbed.name)

    def radio_time_varies(self, experiment: Experiment) -> bool:  # noqa: ARG002
        """Return whether the machine decides how fast the radio's time passes."""
        return False

    def radio_time_factor(self, run: Path) -> float | None:  # noqa: ARG002
        """Return the seconds of radio time per second in a run; None if they were not recorded.

        Only where `radio_time_varies`.
        """
        return None

    def manual(self) -> ManualTestbed | None:
        """Return how it is brought up manually; None if it cannot be."""
        return None

    def label(self, experiment: Experiment) -> str:
        """Return the last part of the run directory's name."""
        scenario = Path(experiment.scenario).name.removesuffix(".yaml").removesuffix(".yml")
        return f"{experiment.prb}prb-{scenario}"

    def notice(self, experiments: Sequence[Experiment]) -> str:  # noqa: ARG002
        """Return what users have to know before these runs, such as what they cost."""
        return ""

    def expected_s(self, experiment: Experiment) -> float:
        """Return about how many seconds of this machine a run takes."""
        return experiment.duration_s + _AROUND_TRAFFIC_S

    def run_elsewhere(
        self, experiment: Experiment, machine: str, output: Path, dry_run: bool
    ) -> Path | None:
        """Run the experiment on another machine; return the run's directory here, if there is one.

        Only with `elsewhere`.
        """
        raise NotImplementedError


def drivers() -> dict[str, Driver]:
    """Return every driver by the testbed's name, the preferred first."""
    return registry.drivers()


def check_loss(experiment: Experiment) -> None:
    """Refuse a path that loses every packet of the traffic, or of what TCP needs back, as long as
    the run lasts."""
    ways = set(experiment.directions)
    if any(experiment.traffic_of(plan).own_ccs is None for plan in experiment.flows):
        ways = {"dl", "ul"}
    losses = [stage.experiment.loss for stage in experiment.stages]
    if lost := sorted(way for way in ways if all(getattr(one, way) == 1 for one in losses)):
        way = "" if lost == sorted(ways) else f" of {lost[0].upper()}"
        rule = f"100 % of the packets{way} are lost, so that no flow delivers anything"
        raise refusal(rule, "write less, such as 1% or 0.01", key="loss")


def check_traffic(experiment: Experiment) -> None:
    """Refuse traffic that cannot work, or that the experiment's testbed does not carry."""
    check_traffic_is_carried(experiment)
    for one in traffic.of_experiment(experiment):
        traffic.driver_of(one).check(experiment, one)


def check_traffic_is_carried(experiment: Experiment) -> None:
    """Refuse traffic that another testbed may carry."""
    name = experiment.testbed.name
    for one in traffic.of_experiment(experiment):
        kind = traffic.driver_of(one)
        if not _carries(driver_of(experiment), name, kind):
            able = [other for other, driver in drivers().items() if _carries(driver, other, kind)]
            rule = f"the testbed {name} does not carry the traffic {one}"
            fix = f"choose --testbed {' or '.join(able)}" if able else "choose another kind"
            key = "traffic" if one == experiment.traffic else "cc"
            raise refusal(rule, fix, key=key)


def _carries(testbed: Driver, name: str, kind: TrafficDriver) -> bool:
    if kind.only_on is not None:
        return kind.only_on == name
    return kind.runs_everywhere or testbed.runs_programs


def driver_of(experiment: Experiment) -> Driver:
    """Return the driver of the experiment's testbed."""
    return drivers()[experiment.testbed.name].variant(experiment)
