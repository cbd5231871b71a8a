# SPDX-License-Identifier: Apache-2.0
"""One run, from the checks before it to the verdict on it."""

from __future__ import annotations

import secrets
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from ccu import congestion, scenarios, traffic
from ccu.host import disk, programs, resources
from ccu.host.interruption import interruptible
from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.runs import capture, disk_space
from ccu.runs.changes import Changes
from ccu.runs.cost import Cost
from ccu.runs.manifest import Manifest, UnfinishedRun
from ccu.runs.verdict import check_crossing, verdict_of
from ccu.spec.errors import Interrupted, RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import Host, Site, Testbed, WholeRun, check_loss, check_traffic, driver_of
from ccu.traffic.flow import Flow
from ddu.console.ownership import give_to_sudo_user, make_directory
from ddu.console.problems import CommandError, Problem, RefusedError, Where, problems_of, refusal
from ddu.errors import unwritable_output

Listener = Callable[[str, float], None]
"""A function of the stage of the run and the completed share of the traffic, 0 to 1."""

_POLL_S = 0.1


def check(experiment: Experiment, output: Path, *, machine: bool = True) -> Path:
    """Refuse a run that cannot work, before anything starts; return the scenario's file.

    Without `machine`, devices, programs and disk space are not checked: for a plan.
    """
    driver = driver_of(experiment)
    scenario, problems = None, list[Problem]()
    try:
        scenario = scenario_of(experiment)
    except RefusedError as error:
        problems += error.problems
    checks: list[Callable[[], object]] = []
    if machine:
        captures = experiment.capture and not driver.own_kernel
        needed = [*driver.needs, *(["tcpdump", "socket-sampler"] if captures else [])]
        needed += [] if driver.own_kernel else traffic.needs(experiment)
        checks += [partial(programs.require, name) for name in needed]
        checks.append(lambda: disk_space.check(experiment, output))
    if not driver.own_kernel:
        checks.append(lambda: congestion.check(experiment, now=machine))
    checks += [lambda: check_loss(experiment), lambda: check_traffic(experiment)]
    if scenario:
        checks.append(partial(driver.check, experiment, scenario))
        checks += [partial(driver.check_machine, experiment)] if machine else []
    for one in checks:
        problems += problems_of(one)
    if problems or scenario is None:
        raise RefusedError(problems)
    return scenario


def try_out(experiment: Experiment) -> None:
    """Execute the experiment's policies as far as it shows whether they can run. Raises
    RefusedError."""
    driver = driver_of(experiment)
    congestion.try_out(experiment, driver.own_controls() if driver.own_kernel else None)
    traffic.try_out(experiment)


def scenario_of(experiment: Experiment) -> Path:
    """Return the file of the experiment's scenario. Raises RefusedError."""
    try:
        return scenarios.locate(experiment.scenario, experiment.seed)
    except RefusedError as error:
        raise RefusedError(one.at(Where(key="scenario")) for one in error.problems) from None


def run(experiment: Experiment, output: Path, report: Listener) -> Path:
    """Run `experiment` and return its directory.

    Raises RefusedError before anything is made; RunFailed or Interrupted with the directory kept
    and all else gone.
    """
    scenario = check(experiment, output)
    try_out(experiment)
    resources.clean()
    early: list[str] = []
    with ExitStack() as first:
        # Noted, as an exception here would leave a directory without run.json.
        first.enter_context(interruptible(early.append))
        directory, began = _make_directory(experiment, output), Cost.so_far()
        try:
            record = Manifest(directory, experiment)
            owned = resources.begin_record(secrets.token_hex(3))
            owned.register(UnfinishedRun(str(directory.resolve())))
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)  # It has nothing, and no run.json.
            raise
        supervisor = Supervisor(owned, directory / "raw" / "logs")
        supervisor.watch(partial(disk.watch, directory))
        site = Site(experiment, scenario, directory / "raw", supervisor, owned)
        noting_early = first.pop_all()
    # Signals are noted also while resources are removed: what is left half removed stays.
    with noting_early, interruptible(supervisor.interrupt):
        for name in early:
            supervisor.interrupt(name)
        try:
            record.begin(time=_stamped(record, "start_utc_ns"))
            _perform(site, record, report)
            stopped = _stamped(record, "stop_utc_ns")
            supervisor.stop_all()  # Nobody writes into the raw data from now on.
            record.finish(status="finished", time=stopped, cost=Cost.so_far().since(began))
        except OSError as error:
            failed = RunFailed(disk.STAGE if disk.is_full(error) else "files", str(error))
            failed.directory = directory
            _write_failure(record, failed)
            raise failed from error
        except BaseException as error:
            if isinstance(error, RunFailed):
                error.directory = directory
            _write_failure(record, error)
            raise
        finally:
            supervisor.stop_all()
            owned.remove()
            _say_what_is_left(owned, record)
            give_to_sudo_user(directory)
    if by := supervisor.interrupted_by:  # Too late for the run, not for what would follow it.
        raise Interrupted(f"interrupted by {by}; the run is complete: {directory}")
    return directory


def _say_what_is_left(owned: Resources, record: Manifest) -> None:
    """Print what could not be removed, unless the verdict on the run has it as a reason."""
    for sentence in owned.not_removed:
        if sentence not in record.content.get("verdict_reasons", ()):
            print(f"ccu: {sentence}; `ccu clean` tries it again", file=sys.stderr)


def _make_directory(experiment: Experiment, output: Path) -> Path:
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    label = driver_of(experiment).label(experiment)
    name = f"{now}-{experiment.cc}-{experiment.direction}-{label}"
    for number in range(1, 100):
        directory = output / (name if number == 1 else f"{name}-{number}")
        try:
            make_directory(directory / "raw" / "logs")
        except FileExistsError:
            continue
        except OSError as error:
            raise unwritable_output(directory, "cannot be made", error) from None
        return directory
    raise refusal(
        f"{output} has too many runs of this second", "choose another folder", key="--output"
    )


def _perform(site: Site, record: Manifest, report: Listener) -> None:
    driver = driver_of(site.experiment)
    flows = traffic.plan(site.experiment)
    for kind, some in traffic.by_driver(flows):
        kind.prepare(site.experiment, some, site.raw)
    if whole_run := driver.whole_run():
        _perform_at_once(site, record, whole_run, flows, report)
        return
    with ExitStack() as stack:
        report("loading the congestion control", 0.0)
        implementations = stack.enter_context(congestion.loaded(site))
        report("starting the link", 0.0)
        testbed = stack.enter_context(driver.up(site))
        record.write(time={**record.content["time"], **testbed.clock})
        implementations |= traffic.implementations(site.experiment)
        record.write(hosts=testbed.hosts, cc_implementation=implementations, **testbed.records)
        captures, sockets = _watch_packets(site, testbed, flows)
        record.write(sockets=sockets, captures=[one.record() for one in captures])
        for flow in flows:
            flow.capture = _capture_at(site, captures, flow.receiver_host(testbed))
        for kind, some in traffic.by_driver(flows):
            kind.listen(site, testbed, some)
        record.write(time=_stamped(record, "traffic_start_utc_ns"))
        try:
            record.write(**_carry(site, testbed, flows, report))
        finally:
            record.write(flows=[flow.record(testbed) for flow in flows])
        record.write(time=_stamped(record, "traffic_stop_utc_ns"))
        report("stopping", 1.0)
        capture.stop_captures(site, captures)
        summary = testbed.settle()
        record.write(time={**record.content["time"], **testbed.clock})
    traces = [*congestion.traces(site), *traffic.traces(flows, site.raw)]
    record.write(cc_traces=traces, cc_implementation=implementations)
    for flow in flows:
        traffic.driver_of(flow.traffic).read_result(flow, testbed, site.raw)
    _check_congestion_controls(flows)
    record.write(flows=[flow.record(testbed) for flow in flows])
    unchecked = check_crossing(testbed.delivered_bytes, traffic.received(flows))
    captured = [one.record() for one in captures]
    problems = [
        problem
        for kind, some in traffic.by_driver(flows)
        for flow in some
        for problem in kind.problems(flow)
    ]
    problems += congestion.problems(implementations)
    verdict, reasons = verdict_of(summary, captured, problems)
    reasons += unchecked + site.resources.not_removed
    record.write(captures=captured, verdict=verdict, verdict_reasons=reasons)


def _perform_at_once(
    site: Site, record: Manifest, whole_run: WholeRun, flows: Sequence[Flow], report: Listener
) -> None:
    report("running in virtual time", 0.0)
    outcome = whole_run(site, flows)
    record.write(**outcome.records)
    _check_congestion_controls(flows)
    unchecked = check_crossing(outcome.delivered_bytes, traffic.received(flows))
    problems = congestion.problems(outcome.records.get("cc_implementation", {}))
    verdict, reasons = verdict_of(outcome.summary, outcome.records["captures"], problems)
    reasons += unchecked + site.resources.not_removed
    record.write(verdict=verdict, verdict_reasons=reasons)


def _watch_packets(
    site: Site, testbed: Testbed, flows: Sequence[Flow]
) -> tuple[list[capture.Capture], list[dict[str, Any]]]:
    if not site.experiment.capture:
        return [], []
    captures = capture.start_captures(site, testbed, flows)
    ports: dict[Host, list[int]] = {}
    for flow in flows:
        if flow.of_kernel:
            ports.setdefault(flow.sender_host(testbed), []).append(flow.sending_port)
    return captures, capture.start_sampling(site, testbed, ports)


def _capture_at(site: Site, captures: Sequence[capture.Capture], host: Host) -> Path | None:
    return next((site.raw / f"{one.name}.pcap" for one in captures if one.host == host), None)


def _carry(site: Site, testbed: Testbed, flows: Sequence[Flow], report: Listener) -> dict[str, Any]:
    """Start each flow at its time and wait for all, while all other programs must keep running.

    Returns what run.json says of changes on the way.
    """
    began = time.monotonic()
    changes = Changes(site, testbed, flows)
    waiting = sorted(flows, key=lambda flow: flow.start_s)
    while True:
        elapsed_s = time.monotonic() - began
        while waiting and waiting[0].start_s <= elapsed_s:
            flow = waiting.pop(0)
            traffic.driver_of(flow.traffic).connect(site, testbed, flow)
        changes.make(elapsed_s)
        site.supervisor.check()
        for flow in flows:
            if flow not in waiting:
                started_s = began + flow.start_s
                traffic.driver_of(flow.traffic).look(site, testbed, flow, started_s)
        finished = (traffic.driver_of(flow.traffic).finished(flow) for flow in flows)
        if not waiting and all(finished):
            break
        report("traffic", min(elapsed_s / site.experiment.duration_s, 1.0))
        time.sleep(_until(changes.next_s, time.monotonic() - began))
    site.supervisor.check()
    return changes.record()


def _until(next_s: float | None, elapsed_s: float) -> float:
    """Return how long to sleep: until the next change, or as long as is usual."""
    left_s = _POLL_S if next_s is None else next_s - elapsed_s
    return max(0.0, min(_POLL_S, left_s))


def _check_congestion_controls(flows: Sequence[Flow]) -> None:
    """Raise RunFailed if a flow had another one than was asked for."""
    for flow in flows:
        if wrong := flow.wrong_cc():
            raise RunFailed("congestion control", f"flow {flow.id}: {wrong}")


def _stamped(record: Manifest, key: str) -> dict[str, Any]:
    """Return run.json's `time` with this instant; a run in virtual time has its own."""
    if key in record.content["time"]:
        return dict(record.content["time"])
    return {**record.content["time"], key: time.time_ns()}


def _write_failure(record: Manifest, error: BaseException) -> None:
    interrupted = isinstance(error, (Interrupted, KeyboardInterrupt))
    stage = error.stage if isinstance(error, RunFailed) else "ccu"
    reason = error.reason if isinstance(error, RunFailed) else str(error) or type(error).__name__
    if not isinstance(error, (CommandError, KeyboardInterrupt)):
        reason = f"{type(error).__name__}: {reason}"
    record.fail(
        status="interrupted" if interrupted else "failed",
        failure={"stage": "interrupted" if interrupted else stage, "reason": reason},
        time=_stamped(record, "stop_utc_ns"),
    )
