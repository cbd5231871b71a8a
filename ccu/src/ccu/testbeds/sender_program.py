# SPDX-License-Identifier: Apache-2.0
"""Sender programs of the user's own, by UDP (docs/congestion-controls.md).

A wrapper is one program for both ends: `wrapper receiver PORT` and `wrapper sender ADDRESS PORT`.
The port that it sends from is its own choice, so the capture at the receiver says which it was,
and how much arrived.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from ccu.host.digest import sha256_of
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds.flow import Flow
from ccu.testbeds.timed_program import last_lines
from ccu.testbeds.udp_capture import arrived
from ddu.console.problems import refusal

End = Literal["receiver", "sender"]

LISTENING_S = 1.0
"""The time in which a receiver must listen, in real time."""
_ENDING_S = 2.5  # The receiver hears what still comes.


def check(experiment: Experiment) -> None:
    """Raise RefusedError if a program cannot be started, or nothing would count its packets."""
    for written in experiment.programs.values():
        file = _located(written)
        if not file.is_file():
            what = "is a directory" if file.is_dir() else "no such file"
            raise refusal(f"program:{written}: {what}", "name your wrapper", key="cc")
        if not os.access(file, os.X_OK):
            rule = f"program:{written}: is not executable"
            raise refusal(rule, f"type: chmod +x {written}", key="cc")
    if experiment.programs and not experiment.capture:
        rule = "what a program sends is counted in the captures"
        raise refusal(rule, "leave out --no-capture", key="capture")


def commands(flow: Flow, logs: Path, sender: str, receiver: str) -> dict[End, list[str]]:
    """Return the commands of `receiver` and `sender`, which end by themselves.

    `sender`, `receiver`: the addresses of the two hosts; `logs`: where their output goes.
    """
    port = str(flow.listening_port)
    listens_s = LISTENING_S + flow.start_s + flow.duration_s + _ENDING_S

    def command(end: End, lasts_s: float, own: str, other: str, *words: str) -> list[str]:
        return [
            *(sys.executable, "-B", "-m", "ccu.testbeds.timed_program", f"{lasts_s:g}"),
            str(logs / _log(flow, end)),
            *(f"CCU_LOCAL_ADDRESS={own}", f"CCU_REMOTE_ADDRESS={other}"),
            *("--", str(_located(str(flow.program))), end, *words),
        ]

    return {
        "receiver": command("receiver", listens_s, receiver, sender, port),
        "sender": command("sender", flow.duration_s, sender, receiver, receiver, port),
    }


def failure(flow: Flow, end: End, logs: Path) -> str:
    """Return why an end of a flow failed, as its log says."""
    return f"the {end} failed: {last_lines(logs / _log(flow, end))}"


def count(flow: Flow, capture: Path, receiver: str) -> int:
    """Return the payload that has arrived, bytes; note the port that it came from.

    `capture`: the receiver's; `receiver`: its address. Raises RunFailed if nothing arrived.
    """
    by_port = arrived(capture, receiver, flow.listening_port)
    if not by_port:
        rule = f"{flow.program} sent nothing to {receiver} port {flow.listening_port} by UDP"
        log = _log(flow, "sender")
        raise RunFailed("traffic", f"flow {flow.id}: {rule}. Its output is in raw/logs/{log}")
    flow.source_port = max(by_port, key=by_port.__getitem__)
    flow.counted_bytes = by_port[flow.source_port]
    return flow.counted_bytes


def implementations(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Return what run.json says of each program, by name."""
    return dict(_described(experiment))


def _described(experiment: Experiment) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, written in experiment.programs.items():
        file = _located(written)
        digest = sha256_of(file)
        yield name, {"kind": "program", "source": str(file), "sha256": digest, "parameters": {}}


def _log(flow: Flow, end: End) -> str:
    return f"program-{flow.id}-{end}.log"


def _located(written: str) -> Path:
    return Path(written).expanduser().resolve()
