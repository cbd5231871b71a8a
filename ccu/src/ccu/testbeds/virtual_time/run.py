# SPDX-License-Identifier: Apache-2.0
"""A run in virtual time: one program, and what it says for run.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ccu import congestion, scenarios
from ccu.congestion import OfFile
from ccu.host import programs
from ccu.scenarios import link_config
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction
from ccu.testbeds import SHARED_CLOCK, Host, Outcome, Site, iperf3_commands, sender_program
from ccu.testbeds.flow import Flow
from ccu.testbeds.virtual_time import controls, plan

# CPU time is limited inside (docs/virtual-time.md); this is for a program that hangs.
_PATIENCE_S = 86_400.0


class Hosts:
    """The hosts of the guest, as far as flows ask for them."""

    def __init__(self, hosts: dict[Host, dict[str, Any]]) -> None:
        self.hosts = hosts

    def ue_host(self, ue: int) -> Host:
        """Return the host that UE number `ue` is."""
        return plan.host_of(ue)


class Run:
    """The run of one plan, step by step."""

    def __init__(self, site: Site, flows: Sequence[Flow]) -> None:
        self._site = site
        self._flows = flows
        self._of_files = controls.of_files(site.experiment)

    def prepare(self, **more: Any) -> None:
        """Write the plan, with `more` keys, and the files that it names."""
        site = self._site
        experiment, raw = site.experiment, site.raw
        config = link_config.link_config(experiment, "server", "ue")
        link_config.write_config(config, raw / "link.yaml")
        link_config.copy_scenario(site.scenario, raw, scenarios.seed_of(experiment.scenario))
        inside = {name: one.in_virtual_time(site) for name, one in self._of_files.items()}
        content = plan.plan_of(experiment, self._flows, inside) | more
        (raw / plan.FILE).write_text(json.dumps(content, indent=2) + "\n")

    def perform(self) -> None:
        """Run it until it ends. Raises RunFailed, or Interrupted."""
        site = self._site
        program = site.supervisor.start(
            "nr-link",
            [programs.require("nr-link"), "virtual", "run", str(site.raw / plan.FILE)],
            stage="virtual time",
            lasting=False,
        )
        site.supervisor.wait_for(program, lambda: program.ended, "ended", _PATIENCE_S)
        site.supervisor.check()

    def outcome(self, delivered_bytes: Callable[[Direction], int | None]) -> Outcome:
        """Return what it says of itself. Raises RunFailed."""
        site, flows = self._site, self._flows
        experiment, raw = site.experiment, site.raw
        try:
            account: dict[str, Any] = json.loads((raw / "virtual.json").read_text())
            summary: dict[str, Any] = json.loads((raw / "link-summary.json").read_text())
        except (OSError, ValueError) as error:
            raise RunFailed("virtual time", f"nr-link wrote no summary ({error})") from None
        by_id = {one["id"]: one for one in _accounts(site, flows, account)}
        implementations = {
            name: _implementation(site, name, self._of_files.get(name), account)
            for name in experiment.servers_ccs
        }
        for flow in flows:
            flow.cc_read_back = by_id[flow.id]["cc_read_back"]
        received: dict[Direction, int] = {}
        for flow in flows:
            count = int(by_id[flow.id]["received_bytes"])
            received[flow.direction] = received.get(flow.direction, 0) + count
        return Outcome(
            records={
                **_records(site, flows, by_id, account, summary),
                "cc_implementation": implementations | sender_program.implementations(experiment),
            },
            summary=summary,
            received=received,
            delivered_bytes=delivered_bytes,
        )


def _accounts(site: Site, flows: Sequence[Flow], account: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the traffic program says of each flow."""
    own = [_by_program(site, flows, flow, account) for flow in flows if flow.program is not None]
    if not plan.by_iperf3(site.experiment):
        return [*account["flows"], *own]
    return own + [_by_iperf3(site, flow) for flow in flows if flow.program is None]


def _by_program(
    site: Site, flows: Sequence[Flow], flow: Flow, account: dict[str, Any]
) -> dict[str, Any]:
    codes = {one["name"]: one["code"] for one in account["programs"]}
    ends: tuple[sender_program.End, ...] = ("receiver", "sender")
    for end in ends:
        if codes[f"{flow.id}-{end}"]:
            why = sender_program.failure(flow, end, site.raw / "logs")
            raise RunFailed("traffic", f"flow {flow.id}: {why}")
    _, (receiver, address) = plan.ends_of(flow)
    role = plan.captures(site.experiment, flows)[receiver]
    capture = site.raw / plan.capture_file(receiver, role)
    received_bytes = sender_program.count(flow, capture, address)
    return {"id": flow.id, "cc_read_back": None, "received_bytes": received_bytes}


def _by_iperf3(site: Site, flow: Flow) -> dict[str, Any]:
    names = (f"iperf3-{flow.id}-{end}" for end in ("client", "server"))
    client, server = (iperf3_commands.report(site.raw / f"{one}.json", one) for one in names)
    return {
        "id": flow.id,
        "cc_read_back": client["end"].get("sender_tcp_congestion"),
        "received_bytes": server["end"]["sum_received"]["bytes"],
    }


def _records(
    site: Site,
    flows: Sequence[Flow],
    reports: Mapping[str, dict[str, Any]],
    account: dict[str, Any],
    summary: dict[str, Any],
) -> dict[str, Any]:
    """Return the keys of run.json; `reports`: what the traffic program says of each flow."""
    experiment = site.experiment
    hosts = {one["name"]: _host(site, one, account) for one in account["hosts"]}
    start_utc_ns = summary["start_utc_ns"]
    stop_utc_ns = start_utc_ns + round(summary["duration_s"] * 1e9)
    return {
        "hosts": hosts,
        "flows": [flow.record(Hosts(hosts)) | _end(reports[flow.id]) for flow in flows],
        "captures": [
            {
                "host": host,
                "role": role,
                "file": f"raw/{plan.capture_file(host, role)}",
                "snaplen_bytes": plan.CAPTURED_BYTES,
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
        "cc_traces": congestion.traces(site),
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


def _implementation(
    site: Site, name: str, own: OfFile | None, account: dict[str, Any]
) -> dict[str, Any]:
    if own is not None:
        return own.account(site, account["policies"].get(name))
    if name == "reminis":
        parameters = account["kernel"]["module_parameters"]["tcp_reminis"]
        return {"kind": "module", "parameters": parameters}
    return {"kind": "kernel", "parameters": {}}


def _end(report: dict[str, Any]) -> dict[str, Any]:
    """Return what the receiver read, and until when; nothing if its program does not say so."""
    if "receiving_s" not in report:
        return {}
    until_utc_ns = report["start_utc_ns"] + round(report["receiving_s"] * 1e9)
    return {
        "received_bytes": report["received_bytes"],
        "with_drain_s": report["receiving_s"],
        "received_until_utc_ns": until_utc_ns,
    }


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
