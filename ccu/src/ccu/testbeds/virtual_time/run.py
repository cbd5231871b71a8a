# SPDX-License-Identifier: Apache-2.0
"""A run in virtual time: one program, and what it says for run.json."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ccu import congestion, traffic
from ccu.congestion import InVirtualTime, VirtualReport
from ccu.host.contain import Rights, contained
from ccu.scenarios import link_ahead, link_config
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.testbeds import SHARED_CLOCK, Outcome, Site, changes
from ccu.testbeds.virtual_time import controls, kernel, plan
from ccu.testbeds.virtual_time.limit import unfinished
from ccu.traffic import End
from ccu.traffic.flow import Flow

# CPU time is limited inside (docs/virtual-time.md); this is for a program that hangs.
_PATIENCE_S = 86_400.0


class Run:
    """The run of one plan, step by step."""

    def __init__(self, site: Site, flows: Sequence[Flow]) -> None:
        self._site = site
        self._flows = flows
        there = controls.provided(site.experiment)
        self._controls = {name: there[name] for name in site.experiment.servers_ccs}
        self._rights: Rights | None = None

    def prepare(self, unchanged: Sequence[Path] = (), **more: Any) -> None:
        """Write the plan, with `more` keys, and the files that it names.

        `unchanged`: what others write in the folder for raw data, which programs of a user cannot.
        """
        site = self._site
        experiment, raw = site.experiment, site.raw
        link_config.write(site.experiment, site.scenario, site.raw)
        inside = {name: _inside(site, one) for name, one in self._controls.items()}
        content = plan.plan_of(experiment, self._flows, inside) | more
        if any(one.knows_the_link for one in inside.values()):
            link_ahead.write(experiment, site.scenario, raw / congestion.CAPACITY_FILE)
            # The policy is checked before the link begins; nr-link writes it when it does.
            (raw / congestion.START_FILE).touch()
            content["link_start"] = congestion.START_FILE
        self._rights = _rights(site, self._flows, inside, content, unchanged)
        (raw / plan.FILE).write_text(json.dumps(content, indent=2) + "\n")

    def perform(self) -> None:
        """Run it until it ends. Raises RunFailed, or Interrupted."""
        site = self._site
        command = plan.command(site.raw / plan.FILE)
        program = site.supervisor.start(
            "nr-link",
            contained(command, self._rights) if self._rights else command,
            stage="virtual time",
            lasting=False,
        )
        try:
            site.supervisor.wait_for(program, lambda: program.ended, "ended", _PATIENCE_S)
            site.supervisor.check()
        except RunFailed as error:
            site.supervisor.stop(program)  # What it may still change is not read.
            if late := unfinished(site.raw, _fix(site.experiment)):
                raise RunFailed(error.stage, late) from None
            raise

    def outcome(self, delivered_bytes: Callable[[Direction], int | None]) -> Outcome:
        """Return what it says of itself. Raises RunFailed."""
        site, flows = self._site, self._flows
        experiment, raw = site.experiment, site.raw
        try:
            account: dict[str, Any] = json.loads((raw / "virtual.json").read_text())
            summary: dict[str, Any] = json.loads((raw / "link-summary.json").read_text())
        except (OSError, ValueError) as error:
            raise RunFailed("virtual time", f"nr-link wrote no summary ({error})") from None
        _read_results(site, flows, account)
        implementations = {
            name: one.provider.account(name, one.file, site.as_of(name), _report(name, account))
            for name, one in self._controls.items()
        }
        return Outcome(
            records={
                **_records(site, flows, account, summary),
                "cc_implementation": implementations | traffic.implementations(experiment),
            },
            summary=summary,
            delivered_bytes=delivered_bytes,
        )


def _fix(experiment: Experiment) -> str:
    """Return how the traffic can end within the time limit that the plan has for it."""
    if experiment.traffic.most_bytes is not None:
        return "Give a longer duration (--duration), or a smaller volume"
    return "Let its programs end with the traffic, or choose a link that carries what they send"


def _inside(site: Site, control: congestion.Provided) -> InVirtualTime:
    """Return what a congestion control needs, from the instant on at which flows first have it."""
    provider = control.provider
    parameters = {
        of.at_s: provider.new_parameters(name, of.before, of.after)
        for name, of in congestion.changed_parameters(site.experiment)
        if name == control.name and provider.changes_parameters
    }
    needs = provider.in_virtual_time(control.name, control.file, site.as_of(control.name))
    return replace(needs, changes=parameters)


def _rights(
    site: Site,
    flows: Sequence[Flow],
    inside: Mapping[str, InVirtualTime],
    content: Mapping[str, Any],
    unchanged: Sequence[Path],
) -> Rights | None:
    """Return the rights of a kernel in which something runs that a user wrote; None: nothing does.

    It makes the network itself; the machine's is where runs say which core they have.
    """
    programs_reads = plan.reads_of_users_programs(site.experiment, flows, site.raw)
    if not programs_reads and not any(one.policy or one.modules for one in inside.values()):
        return None
    radio = [content["radio"]] if "radio" in content else []
    return Rights(
        reads=(str(Path(kernel.examine().path).parent), *programs_reads),
        writes=(str(site.raw), *radio),
        unchanged=tuple(map(str, unchanged)),
        keeps_network=True,
        socket_families=(socket.AF_UNIX,),
        traces_children=True,
    )


def _read_results(site: Site, flows: Sequence[Flow], account: dict[str, Any]) -> None:
    """Put into the flows what the programs that made them say. Raises RunFailed."""
    hosts = plan.planned_hosts(site.experiment)
    reports = {one["id"]: one for one in account["flows"]}
    roles = plan.captures(site.experiment, flows)
    for flow in flows:
        if (report := reports.get(flow.id)) is not None:
            flow.cc_read_back = report["cc_read_back"]
            flow.counted_bytes, flow.counted_s = report["received_bytes"], report["receiving_s"]
            until_ns = round(report["receiving_s"] * 1e9)
            flow.received_until_utc_ns = report["start_utc_ns"] + until_ns
            continue
        host = flow.receiver_host(hosts)
        if host in roles:
            flow.capture = site.raw / plan.capture_file(host, roles[host])
        _check_codes(site, flow, hosts, account)
        traffic.driver_of(flow.traffic).read_result(flow, hosts, site.raw)


def _check_codes(site: Site, flow: Flow, hosts: plan.Hosts, account: dict[str, Any]) -> None:
    """Raise RunFailed if a program of the flow ended with a code that is not 0."""
    codes = {one["name"]: one["code"] for one in account["programs"]}
    kind = traffic.driver_of(flow.traffic)
    commands = kind.commands(site.experiment, flow, hosts, site.raw)
    ends: tuple[End, ...] = ("receiver", "sender")
    for end in ends:
        if code := codes[commands[end].name]:
            why = kind.failure(flow, end, code, site.raw)
            raise RunFailed("traffic", f"flow {flow.id}: {why}")


def _records(
    site: Site, flows: Sequence[Flow], account: dict[str, Any], summary: dict[str, Any]
) -> dict[str, Any]:
    """Return the keys of run.json."""
    experiment, raw = site.experiment, site.raw
    hosts = {one["name"]: _host(site, one, account) for one in account["hosts"]}
    start_utc_ns = summary["start_utc_ns"]
    stop_utc_ns = start_utc_ns + round(summary["duration_s"] * 1e9)
    return {
        "hosts": hosts,
        "flows": [flow.record(plan.Hosts(hosts)) for flow in flows],
        "captures": [
            {
                "host": host,
                "role": role,
                "file": f"raw/{plan.capture_file(host, role)}",
                "snaplen_bytes": experiment.snaplen_bytes,
                "packets_dropped_count": 0,
            }
            for host, role in plan.captures(experiment, flows).items()
        ],
        "sockets": [
            {
                "host": host,
                "file": f"raw/sockets-{host}.pcap",
                "interval_ms": experiment.socket_interval_ms,
            }
            for host in plan.sampled(experiment, flows)
        ],
        "mac": {"file": "raw/mac.csv", "source": "nr-link"},
        "link_summary": "raw/link-summary.json",
        "cc_traces": [*congestion.traces(site), *traffic.traces(flows, site.raw)],
        **changes.record(experiment, account["traffic_start_utc_ns"], _made(raw, account)),
        "time": {
            "clock": "virtual",
            **SHARED_CLOCK,
            "start_utc_ns": start_utc_ns,
            "traffic_start_utc_ns": account["traffic_start_utc_ns"],
            "traffic_stop_utc_ns": account["traffic_stop_utc_ns"],
            "stop_utc_ns": stop_utc_ns,
            "real_time_ratio": account["real_time_ratio"],
        },
    }


def _made(raw: Path, account: dict[str, Any]) -> dict[float, changes.Made]:
    """Return what changed on the hosts, by seconds of traffic."""
    planned = json.loads((raw / plan.FILE).read_text()).get("changes", [])
    done = (changes.Made(one["utc_ns"], one["cc_read_back"]) for one in account.get("changes", []))
    return {one["at_s"]: made for one, made in zip(planned, done, strict=False)}


def _report(name: str, account: dict[str, Any]) -> VirtualReport:
    """Return what the kernel reported of a congestion control."""
    counters = account["policies"].get(name) or {}
    return VirtualReport(counters, account["kernel"]["module_parameters"])


def _host(site: Site, host: dict[str, Any], account: dict[str, Any]) -> dict[str, Any]:
    return {
        "address": host["address"],
        "interface": host["interface"],
        "netns": None,
        "mtu_bytes": site.experiment.mtu_bytes,
        "txqueuelen": 0,
        "offloads": {},
        "sysctls": account["kernel"]["sysctls"],
    }
