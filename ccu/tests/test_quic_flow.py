# SPDX-License-Identifier: Apache-2.0
"""Both programs of `--traffic quic` on the loopback: flows, interoperability, refusals."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ccu.host import programs
from ccu.traffic.quic import aioquic_flow
from testsupport.ports import free_port
from testsupport.waiting import until

QUINN = [programs.require("quic-flow")]
AIOQUIC = programs.of_module(aioquic_flow)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return certified(tmp_path, 1)


def certified(folder: Path, seed: int) -> Path:
    folder.mkdir(exist_ok=True)
    subprocess.run([*QUINN, "certificate", str(folder), "--seed", str(seed)], check=True)
    return folder


def is_bound(port: int) -> bool:
    """Return whether a UDP socket has this port (proc(5))."""
    return f":{port:04X} " in Path("/proc/net/udp").read_text()


def end(folder: Path, program: Sequence[str], name: str, port: int, *words: str) -> list[str]:
    common = [
        "--address",
        f"127.0.0.1:{port}",
        "--certificate",
        str(folder / "quic-certificate.pem"),
    ]
    logs = ["--qlog", str(folder / f"{name}.sqlog"), "--keys", str(folder / f"{name}.keys")]
    sizes = ["--window", "1000000", "--mtu", "1500", "--streams", "1", "--name", "f0"]
    return [*program, name, *common, *logs, *sizes, *words]


def flow(
    folder: Path, sender: Sequence[str], receiver: Sequence[str], *words: str
) -> list[dict[str, Any]]:
    """Send 300 kB, and return the reports of sender and receiver."""
    at, to = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_DGRAM)
    key = ["--key", str(folder / "quic-key.pem"), "--limit", "60"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    waiting = subprocess.Popen(end(folder, receiver, "receive", to, *key), **pipes)  # type: ignore[call-overload]
    until(lambda: is_bound(to), waiting)
    lasts = ["--duration", "1"] if "--datagrams" in words else ["--duration", "60"]
    target = ["--to", f"127.0.0.1:{to}", *lasts, *words]
    if "--datagrams" not in words:
        target += ["--volume", "300000"]
    sent = subprocess.run(end(folder, sender, "send", at, *target), **pipes)  # type: ignore[call-overload]
    received, why = waiting.communicate(timeout=60)
    assert sent.returncode == 0 == waiting.returncode, sent.stderr + why
    return [json.loads(sent.stdout), json.loads(received)]


@pytest.mark.parametrize("sender", [QUINN, AIOQUIC], ids=["quinn", "aioquic"])
@pytest.mark.parametrize("receiver", [QUINN, AIOQUIC], ids=["to quinn", "to aioquic"])
def test_every_implementation_sends_to_every_other(
    folder: Path, sender: list[str], receiver: list[str]
) -> None:
    pytest.importorskip("aioquic")
    sent, received = flow(folder, sender, receiver)
    assert sent["written_bytes"] == received["received_bytes"] == 300_000
    for name in ("send", "receive"):
        records = (folder / f"{name}.sqlog").read_text().split("\x1e")[1:]
        header, *events = map(json.loads, records)
        assert header["qlog_format"] == "JSON-SEQ"
        assert {"transport:packet_sent", "transport:packet_received"} <= {
            event["name"] for event in events
        }


def test_data_is_sent_with_the_first_packets_of_a_second_connection(folder: Path) -> None:
    sent, received = flow(folder, QUINN, QUINN, "--zero-rtt")
    assert sent["zero_rtt"] is True
    assert received["received_bytes"] == 300_000


def test_datagrams_arrive_without_streams(folder: Path) -> None:
    _, received = flow(folder, QUINN, QUINN, "--datagrams")
    assert received["streams"] == 0 < received["datagrams"]


def test_a_certificate_of_another_seed_is_refused(tmp_path: Path) -> None:
    own, other = certified(tmp_path / "a", 1), certified(tmp_path / "b", 2)
    to = free_port(socket.SOCK_DGRAM)
    receive = end(own, QUINN, "receive", to, "--key", str(own / "quic-key.pem"), "--limit", "60")
    waiting = subprocess.Popen(receive, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: is_bound(to), waiting)
    send = end(
        other,
        QUINN,
        "send",
        free_port(socket.SOCK_DGRAM),
        "--to",
        f"127.0.0.1:{to}",
        "--duration",
        "5",
    )
    refused = subprocess.run(send, capture_output=True, text=True)
    report, _ = waiting.communicate(timeout=60)
    assert refused.returncode == 1 == waiting.returncode
    assert "certificate was refused" in refused.stderr
    assert "quic-flow certificate" in json.loads(refused.stdout)["error"]
    assert "certificate" in json.loads(report)["error"]


@pytest.mark.parametrize("program", [QUINN, AIOQUIC], ids=["quinn", "aioquic"])
def test_where_udp_is_blocked_the_sender_says_so(folder: Path, program: list[str]) -> None:
    pytest.importorskip("aioquic")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        to = f"127.0.0.1:{silent.getsockname()[1]}"
        command = end(
            folder, program, "send", free_port(socket.SOCK_DGRAM), "--to", to, "--duration", "1"
        )
        sent = subprocess.run(command, capture_output=True, text=True)
    assert sent.returncode == 1
    assert f"{to} does not answer by UDP" in json.loads(sent.stdout)["error"]
    assert sent.stderr.count("\n") == 1


def test_a_file_that_is_no_certificate_is_named(folder: Path) -> None:
    file = folder / "quic-certificate.pem"
    file.write_text("nothing\n")
    command = end(
        folder,
        QUINN,
        "send",
        free_port(socket.SOCK_DGRAM),
        "--to",
        "127.0.0.1:1",
        "--duration",
        "1",
    )
    sent = subprocess.run(command, capture_output=True, text=True)
    assert sent.returncode == 1
    assert f"{file}: is not a certificate in PEM" in sent.stderr
