# SPDX-License-Identifier: Apache-2.0
"""The radio as a program beside the containers, `nr-link radio`, and requests to it."""

from __future__ import annotations

import contextlib
import json
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ccu.host import programs, resources
from ccu.host.supervisor import Process
from ccu.scenarios import link_config
from ccu.spec.errors import RunFailed
from ccu.testbeds import Site
from ccu.testbeds.oai import configs
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.lockstep import turns
from ccu.testbeds.oai.options import oai_options
from ccu.testbeds.oai.services import server_of, upf_of
from ccu.testbeds.oai.stack import RFSIM_PORT, UE_INTERFACE, Stack

CHANNEL_FILE = "channel.csv"
SLOTS_FILE = "slots.csv"
SLOT_S = 0.0005
"""At 30 kHz, OpenAirInterface's only numerology here."""
_STAGE = "radio"
_POLL_MS = 100


class Client:
    """A connection to the radio; for one thread. Raises RunFailed."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            raise RunFailed(_STAGE, f"nr-link radio does not answer ({error.strerror})") from None
        self._file = self._socket.makefile("rw")

    def ask(
        self, request: str, check: Callable[[], None] | None = None, /, **content: Any
    ) -> dict[str, Any]:
        """Return the answer to a request. Until it comes, `check` may raise an exception."""
        try:
            self._file.write(json.dumps({"request": request, **content}) + "\n")
            self._file.flush()
            if check:
                self._await_answer(check)
            line = self._file.readline()
        except (OSError, ValueError) as error:
            raise RunFailed(_STAGE, f"nr-link radio does not answer ({error})") from None
        if not line:
            raise RunFailed(_STAGE, "nr-link radio has ended")
        answer: dict[str, Any] = json.loads(line)
        if answer["answer"] == "failed":
            raise RunFailed(_STAGE, answer["reason"])
        return answer

    def _await_answer(self, check: Callable[[], None]) -> None:
        there = select.poll()
        there.register(self._socket, select.POLLIN)
        while not there.poll(_POLL_MS):
            check()

    def close(self) -> None:
        """End the connection; a thread that waits for an answer gets none."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@dataclass(frozen=True)
class RadioSocket:
    """The Unix socket of the program."""

    kind: ClassVar[str] = "radio-socket"
    path: str

    def remove(self) -> list[str]:
        socket_file = Path(self.path)
        if not socket_file.is_socket():
            return []
        socket_file.unlink()
        return [f"removed socket {self.path}"]


class Radio:
    """The program. It starts when the gNB listens, and the UEs connect to it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        # Paths of sockets are short, those of runs may not be.
        self.path = resources.FOLDER / f"{site.resources.run_id}.radio"
        self._process: Process | None = None

    def start(self, plan: Plan) -> None:
        """Start it. Raises RunFailed."""
        supervisor = self._site.supervisor
        self._site.resources.register(RadioSocket(str(self.path)))
        command = [programs.require("nr-link"), "radio", "--socket", str(self.path)]
        command += ["--listen", f"{configs.HOST_ADDRESS}:{RFSIM_PORT}"]
        command += ["--gnb", f"{configs.GNB_ADDRESS}:{RFSIM_PORT}"]
        command += ["--slot-samples", str(round(plan.carrier.sample_rate_hz * SLOT_S))]
        settings = oai_options(self._site.experiment)
        if plan.on_samples:
            channel = link_config.write(self._site.experiment, self._site.scenario, self._site.raw)
            command += ["--channel", str(channel)]
            command += ["--antennas", settings.antennas]
            command += ["--channel-record", str(self._site.raw / "oai" / CHANNEL_FILE)]
        if settings.uplink_target_db is not None:
            command += ["--uplink-target", str(settings.uplink_target_db)]
        if settings.capture_n3 or plan.mac_pcap:
            command += ["--slot-record", str(self._site.raw / "oai" / SLOTS_FILE)]
        self._process = supervisor.start("nr-link-radio", command, stage=_STAGE)
        supervisor.wait_ready_event(self._process)

    def stop(self) -> None:
        """Stop it, if it runs; it can be started again."""
        if self._process:
            self._site.supervisor.stop(self._process)
            self._site.resources.remove(RadioSocket(str(self.path)))
            self._process = None

    def attach(self, stack: Stack) -> None:
        """Have the radio wait for the modems that run, slot by slot, while UEs attach."""
        modems = map(stack.runtime.pid, _modems(stack.plan))
        running = [pid for pid in modems if pid is not None]
        turns.prefer(running)
        self._ask("pace", processes=running)

    def hold(self, stack: Stack) -> dict[str, Any]:
        """Stop the radio at the end of a slot; return how far the modems run ahead."""
        plan, server = stack.plan, server_of(stack.plan)
        carriers = [_process(stack, service) for service in _carriers(stack)]
        turns.prefer(carriers)
        return self._ask(
            "hold",
            server=_end(stack, server.service, server.interface, server.address),
            ues=[
                _end(stack, plan.ue_service(ue), UE_INTERFACE, stack.ue_address(ue))
                for ue in plan.ue_numbers
            ],
            processes=carriers,
        )

    def _ask(self, request: str, **content: Any) -> dict[str, Any]:
        client = self.connect()
        try:
            return client.ask(request, self._site.supervisor.check_interrupt, **content)
        finally:
            client.close()

    def connect(self) -> Client:
        return Client(self.path)


def _end(stack: Stack, service: str, device: str, address: str) -> dict[str, str]:
    netns = f"/run/netns/{stack.namespace_of(service)}"
    return {"netns": netns, "device": device, "address": address}


def _carriers(stack: Stack) -> list[str]:
    """Return the services through which packets pass."""
    plan = stack.plan
    core = [] if plan.core == "none" else [upf_of(plan)]
    return [*core, *_modems(plan)]


def _modems(plan: Plan) -> list[str]:
    return [plan.gnb_service, *map(plan.ue_service, plan.ue_numbers)]


def _process(stack: Stack, service: str) -> int:
    """Return the first process of a container."""
    pid = stack.runtime.pid(service)
    if pid is None:
        raise RunFailed(_STAGE, f"{service} does not run")
    return pid
