# SPDX-License-Identifier: Apache-2.0
"""The testbed of a phone in an operator's network, with this machine as its server."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.host.namespace import describe_here
from ccu.host.supervisor import Process
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.testbeds import Host, Site
from ccu.testbeds.phone import address, data_plan, polling, radio_log, survey
from ccu.testbeds.phone.address import Address
from ccu.testbeds.phone.choice import chosen
from ccu.testbeds.phone.clock import Offset, common, measure
from ccu.testbeds.phone.options import PhoneOptions, phone_options
from ccu.testbeds.phone.shell import Shell
from ddu.console.problems import refusal

_SYSCTLS = ("tcp_wmem", "tcp_rmem", "tcp_no_metrics_save", "tcp_ecn")
# A corrected clock moves by more than a quartz drifts during a run.
_MOST_DRIFT = 200e-6


def check_machine(experiment: Experiment) -> None:
    """Raise RefusedError, before anything starts, if the phone cannot be used or reached."""
    settings = phone_options(experiment)
    servers = address.candidates(settings)
    if settings.has_shell:
        phone = chosen(settings)
        servers = [survey.first_reachable(phone, servers)[0]]
        data_plan.of(phone).check(settings.max_bytes)
        survey.check_load(phone, settings.load)
    _check_ports(servers[0], [settings.port + number for number in range(_flow_count(experiment))])


def _flow_count(experiment: Experiment) -> int:
    return len(experiment.flows) * len(experiment.directions)


def _check_ports(server: Address, ports: list[int]) -> None:
    for port in ports:
        with socket.socket(server.family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((server.listens, port))
            except OSError as error:
                raise refusal(
                    f"{port}: {error.strerror}", "choose another, open for TCP", key="server_port"
                ) from None


@contextmanager
def up(site: Site) -> Iterator[PhoneTestbed]:
    """Yield the phone with its log; nothing of ours stays on it."""
    settings = phone_options(site.experiment)
    testbed = PhoneTestbed(site, settings)
    try:
        yield testbed
    finally:
        testbed.end()


class PhoneTestbed:
    """The running testbed."""

    def __init__(self, site: Site, settings: PhoneOptions) -> None:
        self._site = site
        self._phone = chosen(settings) if settings.has_shell else None
        servers, radio = address.candidates(settings), None
        server = servers[0]
        if self._phone:
            server, radio = survey.first_reachable(self._phone, servers)
        self._log: Process | None = None
        self._offset: Offset | None = None
        self._after: Offset | None = None
        """The offset after the clock was set meanwhile."""
        self._measured_s = time.monotonic()
        self._problems: list[str] = []
        count = _flow_count(site.experiment)
        ports = f"{settings.port}-{settings.port + count - 1}"
        self.hosts: dict[Host, dict[str, Any]] = {
            "server": {
                **describe_here(server.interface, server.listens),
                "reached_at": server.reached_at,
                "listens": server.listens,
                "sysctls": _sysctls(),
                "capture_filter": f"tcp portrange {ports}",
            },
            "ue": {"address": None, "interface": None},
        }
        self.records: dict[str, Any] = {"mac": None, "link": None, "link_summary": None}
        if self._phone and radio:
            self._watch(self._phone, radio)

    def _watch(self, phone: Shell, radio: dict[str, Any]) -> None:
        # No interface, as there is no capture on the phone.
        self.hosts["ue"] = {
            **survey.describe(phone),
            "serial": phone.serial,
            "mobile_interface": radio["interface"],
            "address": radio["address"],
            "interface": None,
            "data_plan": data_plan.of(phone).record(),
        }
        self._offset = measure(phone)
        self._log = radio_log.start(self._site, phone, radio["interface"])
        if self._log:
            self.records["mac"] = {"file": f"raw/{radio_log.FILE}", "source": "phone"}

    @property
    def clock(self) -> dict[str, Any]:
        """Return the phone's clock minus this machine's, for run.json; null if it is unknown."""
        known = self._offset
        record = {
            "offset_ns": known.ns if known else None,
            "offset_uncertainty_ns": known.uncertainty_ns if known else None,
        }
        return record | ({"offset_after_ns": self._after.ns} if self._after else {})

    def ue_host(self, ue: int) -> Host:  # noqa: ARG002
        return "ue"

    def command(self, host: Host, arguments: Sequence[str]) -> list[str]:
        """Return the command; on the phone, its single argument is a script of the phone's
        shell."""
        if host == "server":
            return list(arguments)
        if self._phone is None:
            raise RunFailed("phone", "there is no adb to run a command on the phone")
        return self._phone.command(" ".join(arguments))

    def congestion_control(self, host: Host, port: int) -> str | None:  # noqa: ARG002
        return None  # The sender reads it from each connection (traffic_driver.py).

    def listens(self, host: Host, port: int) -> bool:  # noqa: ARG002
        return False

    def delivered_bytes(self, direction: Direction) -> int | None:
        if self._log is None:
            return None
        return radio_log.crossed_bytes(self._site.raw / radio_log.FILE, direction)

    def note(self, problem: str) -> None:
        """Record a problem that degrades the run."""
        self._problems.append(problem)

    def start_changes(self) -> None:
        raise NotImplementedError

    def settle(self) -> dict[str, Any]:
        """Read the phone's clock again, and end its log."""
        if self._phone and self._offset:
            self._check_clock(self._offset, measure(self._phone))
        self.end()
        if self._log:
            log = (self._site.raw / radio_log.FILE).read_text(errors="replace")
            cost = polling.cost(log)
            self.hosts["ue"]["radio_log_cpu"] = cost
            self._problems += polling.problems(cost)
        verdict = "degraded" if self._problems else "valid"
        return {"verdict": verdict, "verdict_reasons": self._problems}

    def _check_clock(self, before: Offset, after: Offset) -> None:
        """Intersect both measurements of the offset, unless the clock was set in between."""
        allowance_ns = round((time.monotonic() - self._measured_s) * _MOST_DRIFT * 1e9)
        wider = Offset(before.low_ns - allowance_ns, before.high_ns + allowance_ns)
        both = common([wider, after])
        if both is not None:
            self._offset = common([before, after]) or both
            return
        self._after = after
        jump_s = (after.ns - before.ns) / 1e9
        self._problems.append(
            f"the phone's clock was set by {jump_s:+.1f} s during the run, at a time known within "
            "one reading of its radio"
        )

    def end(self) -> None:
        """Stop the log, once."""
        if self._log and not self._log.stopped:
            self._site.supervisor.stop(self._log)


def _sysctls() -> dict[str, str]:
    """Return the sysctls, unchanged: a machine on the internet is not ours to tune."""
    folder = Path("/proc/sys/net/ipv4")
    return {f"net.ipv4.{key}": " ".join((folder / key).read_text().split()) for key in _SYSCTLS}
