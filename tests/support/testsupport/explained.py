# SPDX-License-Identifier: Apache-2.0
"""Random experiments with explained delays, and whether the parts of every packet's delay add up to
what the captures show, to the nanosecond. `python -m testsupport.explained 200` runs so many.

The captures are read here, byte by byte, and not by ddu.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testsupport.prepared import command

_RECORD = struct.Struct("<IIII")
_CLOCK_STEP_NS = 256
"""The step of the clock in virtual time."""

_CAPACITIES = ("constant-100M", "cellular-4g")
"""Scenarios without a radio."""
_CELLS = {"corridor-fast": 7, "train": 7, "ping-pong": 7}
"""Scenarios of several cells, and the seconds in which at least one handover takes place."""
_CHANGES = {**_CELLS, "nsa-drive": 10, "mmwave-blockage": 6}
"""The same, and those in which the leg of EN-DC or the beam changes."""
_PRB = {"mmwave-blockage": "66"}
_SCENARIOS = ("static", "rome-moderate", "highway", "indoor", "tunnel", *_CAPACITIES, *_CHANGES)


@dataclass(frozen=True)
class Captured:
    """A packet in a capture."""

    utc_ns: int
    ip_bytes: int
    src: str
    dst: str
    ports: tuple[int, int]
    seq: int
    ack: int


def arguments(seed: int) -> list[str]:
    """Return the flags of `ccu run` for a random experiment."""
    draw = random.Random(f"explained {seed}")
    scenario = draw.choice(_SCENARIOS)
    flags = ["--scenario", scenario, draw.choice(["--dl", "--ul", "--bidir"])]
    traffic = draw.choice(["cubic", "bbr", "reno", "udp:2M"])
    flags += ["--traffic" if ":" in traffic else "--cc", traffic]
    flags += ["--seed", str(seed), "--rtt", f"{draw.choice([0, 7, 20, 60])}ms"]
    flags += ["--ues", str(draw.choice([1, 1, 1, 2, 3]))]
    flags += ["--buffer", f"{draw.choice([30, 200, 3200])}pkt"]
    flags += draw.choice([[], [], ["--loss", "1%"]])
    flags += draw.choice(
        [[], [], ["--aqm", "codel"], ["--aqm", "pie"], ["--aqm", "dualpi2", "--ecn"]]
    )
    if scenario in _CAPACITIES:
        return [*flags, "--duration", "1s"]
    flags += draw.choice([[], [], ["--rlc", "um"], ["--rlc", "am"]])
    flags += draw.choice([[], [], ["--scheduler", "proportional_fair"], ["--scheduler", "max_ci"]])
    if scenario in _CELLS:
        flags += ["--handover", draw.choice(["a3", "cho", "daps", "ltm"])]
    if scenario in _CHANGES:
        return [*flags, "--prb", _PRB.get(scenario, "24"), "--duration", f"{_CHANGES[scenario]}s"]
    flags += ["--prb", str(draw.choice([24, 51, 106])), "--duration", "1s"]
    flags += ["--duplex", draw.choice(["DDDDDDDSUU", "DDDSU", "fdd"])]
    flags += draw.choice([[], [], ["--carriers", "2"]])
    flags += draw.choice([[], [], ["--drx", "interactive"], ["--drx", "nsa-low-band"]])
    return flags


def check(run: Path) -> int:
    """Return the number of packets, all of whose parts add up. Raises AssertionError."""
    record = json.loads((run / "run.json").read_text())
    hosts = {one["host"]: packets(run / one["file"]) for one in record["captures"]}
    address = {name: host["address"] for name, host in record["hosts"].items()}
    rows = np.load(run / "raw" / "delays.npy")
    parts = [name for name in rows.dtype.names if name.startswith("delay_")]
    total = np.zeros(len(rows), dtype=np.int64)
    for part in parts:
        total += rows[part].astype(np.int64)
    left = rows["entered_utc_ns"] + total
    assert (left == rows["left_utc_ns"]).all(), "parts are not the time in the link"
    before = rows["entered_utc_ns"] - rows["sent_utc_ns"]
    assert ((before >= 0) & (before < _CLOCK_STEP_NS)).all(), "a packet entered before it was sent"
    after = rows["received_utc_ns"] - rows["left_utc_ns"]
    assert (after >= 0).all(), "a packet was received before it left"
    whole = before + total + after
    for row, delay_ns in zip(rows, whole, strict=True):
        ue = "ue" if row["ue"] == 0 else f"ue{row['ue'] + 1}"
        ends = (ue, "server") if row["direction"] else ("server", ue)
        if not {*ends} <= hosts.keys():
            continue  # a UE without a flow has no capture
        sent = hosts[ends[0]][row["sent_frame"] - 1]
        received = hosts[ends[1]][row["received_frame"] - 1]
        assert received.utc_ns - sent.utc_ns == delay_ns, (row, sent, received)
        for packet in (sent, received):
            assert (packet.src, packet.dst) == (address[ends[0]], address[ends[1]])
            assert packet.ports == (row["sport"], row["dport"])
            assert (packet.seq, packet.ack) == (row["seq"], row["ack"])
            assert packet.ip_bytes == row["ip_bytes"]
    for name, captured in hosts.items():
        arrived = sum(packet.dst == address[name] for packet in captured)
        of_host = rows["received_frame"][_is_for(rows, name)]
        assert len(set(of_host)) == len(of_host) == arrived, "a received packet has no row, or two"
    return len(rows)


def _is_for(rows: Any, host: str) -> Any:
    if host == "server":
        return rows["direction"] == 1
    ue = 0 if host == "ue" else int(host.removeprefix("ue")) - 1
    return (rows["direction"] == 0) & (rows["ue"] == ue)


def packets(file: Path) -> list[Captured]:
    """Return the packets of a capture of bare IPv4 in the form that virtual time writes."""
    content = file.read_bytes()
    assert content[:4] == struct.pack("<I", 0xA1B23C4D)
    at, captured = 24, []
    while at < len(content):
        seconds, nanoseconds, kept, _ = _RECORD.unpack_from(content, at)
        packet = content[at + 16 : at + 16 + kept]
        at += 16 + kept
        words = (packet[0] & 0xF) * 4
        src, dst = (socket.inet_ntoa(packet[i : i + 4]) for i in (12, 16))
        sport, dport = struct.unpack_from(">HH", packet, words)
        seq, ack = struct.unpack_from(">II", packet, words + 4) if packet[9] == 6 else (0, 0)
        length = struct.unpack_from(">H", packet, 2)[0]
        utc_ns = seconds * 10**9 + nanoseconds
        captured.append(Captured(utc_ns, length, src, dst, (sport, dport), seq, ack))
    return captured


def main() -> None:
    """Run random experiments and check each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="number of experiments")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    given = parser.parse_args()
    total = 0
    for seed in range(given.first, given.first + given.count):
        with tempfile.TemporaryDirectory(prefix="explained-") as folder:
            flags = arguments(seed)
            asked = ("--no-report", "--explain", "--testbed", "virtual")
            ran = command("ccu", "run", *asked, *flags, "--output", folder)
            if ran.returncode:
                sys.exit(f"{seed}: {' '.join(flags)}\n{ran.stderr}")
            (run,) = Path(folder).iterdir()
            count = check(run)
        total += count
        print(f"{seed}: {count} packets: {' '.join(flags)}", flush=True)
    print(f"{given.count} experiments, {total} packets: the parts of every delay add up")


if __name__ == "__main__":
    main()
