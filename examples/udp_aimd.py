#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sender program by UDP: numbered datagrams, acknowledged, at a rate that AIMD chooses.

`udp_aimd.py receiver PORT` and `udp_aimd.py sender ADDRESS PORT`, as `ccu run --cc program:FILE`
starts them (docs/congestion-controls.md). It runs until it is ended.
"""

import select
import socket
import struct
import sys
import time

NUMBER = struct.Struct("!QQ")  # sequence number, departure (monotonic ns)
DATAGRAM = bytes(1200 - NUMBER.size)
LEAST_BPS = 1e6
ROUND_S = 0.05


def receive(port: int) -> None:
    """Send the number and departure of each datagram back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("", port))
        while True:
            datagram, sender = own.recvfrom(2048)
            own.sendto(datagram[: NUMBER.size], sender)


def send(address: str, port: int) -> None:
    """Add 0.5 Mbit/s in each round without loss, and take a quarter away after a loss."""
    rate_bps, number, awaited, lost = LEAST_BPS, 0, 0, False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect((address, port))
        due = round_ends = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= due:
                own.send(NUMBER.pack(number, time.monotonic_ns()) + DATAGRAM)
                number += 1
                due = max(due, now - 0.01) + (NUMBER.size + len(DATAGRAM)) * 8 / rate_bps
            readable, _, _ = select.select([own], [], [], max(0.0, due - now))
            if readable:
                (came, _) = NUMBER.unpack(own.recv(2048))
                lost = lost or came > awaited
                awaited = max(awaited, came + 1)
            if now >= round_ends:
                rate_bps = max(LEAST_BPS, rate_bps * 0.75 if lost else rate_bps + 5e5)
                round_ends, lost = now + ROUND_S, False


if __name__ == "__main__":
    if sys.argv[1] == "receiver":
        receive(int(sys.argv[2]))
    else:
        send(sys.argv[2], int(sys.argv[3]))
