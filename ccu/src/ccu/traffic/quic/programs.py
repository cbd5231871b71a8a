# SPDX-License-Identifier: Apache-2.0
"""The commands of both ends, by implementation, and the files in raw/quic/ that they write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ccu.host import programs
from ccu.spec.experiment import Experiment
from ccu.spec.socket_buffers import STOCK
from ccu.traffic import LISTENING_S, End
from ccu.traffic.flow import Endpoint
from ccu.traffic.quic import aioquic_flow, policy
from ccu.traffic.quic.options import Implementation, Quic
from ddu.console.authority import authority

QUIC_FLOW = "quic-flow"
FOLDER = "quic"
"""The folder in raw/ for everything that QUIC alone has."""
CERTIFICATE, KEY = "quic-certificate.pem", "quic-key.pem"
_QLOG, _KEYS = "sqlog", "keys"
_TRACE, _ENDED = "policy.csv", "policy.json"

_STOCK_BYTES = 6 * 2**20
"""The most that Linux lets TCP receive."""
_ENDING_S = 20.0
"""The time in which what is queued arrives after the sender has stopped."""


@dataclass(frozen=True)
class Flow:
    """One end's view of a flow."""

    id: str
    end: End
    here: Endpoint
    peer: Endpoint
    start_s: float
    duration_s: int
    traffic: Quic
    folder: Path
    """raw/quic/ as the program reaches it."""

    def file(self, kind: str) -> str:
        """Return the path of a file that this end writes."""
        return str(self.folder / name_of(self.id, self.end, kind))


def name_of(flow: str, end: End, kind: str) -> str:
    """Return the name of a file of one end; kinds are json, sqlog and keys,
    and with a policy policy.csv and policy.json."""
    return f"{flow}-{end}.{kind}"


def command(experiment: Experiment, flow: Flow) -> list[str]:
    """Return the program of one end with its arguments."""
    receives = flow.end == "receiver"
    implementation = flow.traffic.receiving if receives else flow.traffic.implementation
    words = [
        *_PROGRAMS[implementation](),
        *("receive" if receives else "send", "--address", _written(flow.here)),
        *("--certificate", str(flow.folder / CERTIFICATE)),
        *("--seed", str(experiment.seed), "--name", flow.id),
        *("--window", str(_window_bytes(experiment)), "--mtu", str(experiment.mtu_bytes)),
        *("--streams", str(flow.traffic.streams)),
        *("--qlog", flow.file(_QLOG), "--keys", flow.file(_KEYS)),
        *(["--ecn"] if experiment.ecn else []),
    ]
    if receives:
        limit_s = LISTENING_S + flow.start_s + flow.duration_s + _ENDING_S
        return [*words, "--key", str(flow.folder / KEY), "--limit", f"{limit_s:g}"]
    volume = flow.traffic.volume_bytes
    return [
        *words,
        *("--to", _written(flow.peer), "--duration", str(flow.duration_s)),
        *([] if flow.traffic.policy else ["--cc", flow.traffic.congestion_control]),
        *(["--volume", str(volume)] if volume is not None else []),
        *(["--datagrams"] if flow.traffic.datagrams else []),
        *(["--zero-rtt"] if flow.traffic.zero_rtt else []),
        *_policy(experiment, flow),
    ]


def _policy(experiment: Experiment, flow: Flow) -> list[str]:
    """Return the words that have a policy decide in place of a congestion control."""
    file = flow.traffic.located_policy()
    if file is None:
        return []
    own = ("--trace", flow.file(_TRACE), "--ended", flow.file(_ENDED))
    seed = ("--seed", str(experiment.seed))
    return ["--", *policy.words(file, flow.traffic.parameters, *seed, *own)]


def writes_of_sender(flow: Flow) -> tuple[str, ...]:
    """Return the files that a sender with a policy opens by itself, its report not among them."""
    return tuple(map(flow.file, (_QLOG, _KEYS, _TRACE, _ENDED)))


def path_of_quic_flow() -> str:
    """Return the program that drives quinn. Raises if it is not built."""
    return programs.require(QUIC_FLOW)


_PROGRAMS: dict[Implementation, Callable[[], list[str]]] = {
    "quinn": lambda: [path_of_quic_flow()],
    "aioquic": lambda: programs.of_module(aioquic_flow),
}


def _written(end: Endpoint) -> str:
    return authority(end.address, end.port)


def _window_bytes(experiment: Experiment) -> int:
    limit = experiment.socket_buffer
    return _STOCK_BYTES if limit == STOCK else int(limit)
