# SPDX-License-Identifier: Apache-2.0
"""One end of a flow by aioquic, with the options, files and reports of quic-flow.

An implementation that shares no code with quinn: `python aioquic_flow.py receive` and `send`, with
options. Its congestion controls are its own (RFC 9002, CUBIC). It is written in Python and sends
each datagram by itself, so that it is slower than quinn.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.connection import QuicConnection
    from aioquic.quic.events import QuicEvent
    from aioquic.quic.logger import QuicLogger

_PROTOCOL = "quic-flow/1"
_SERVER_NAME = "receiver.quic-flow"
_HEADERS_BYTES = 28
_IDLE_S = 120.0
_PATIENCE_S = 10.0
_CHUNK = bytes(1 << 16)
_QUEUED_BYTES = 1 << 20
"""The limit of aioquic's buffers: more than a burst, and little to lose at the end."""
_CONTROLS = {"newreno": "reno", "cubic": "cubic"}
_RECORD = "\x1e"  # RFC 7464


class FlowError(Exception):
    """The flow failed, for a reason that a person can act on."""


def main(arguments: list[str]) -> int:
    """Run one end; print its report, or the reason why there is none."""
    options = _parsed(arguments)
    try:
        report = _End(options).run()
    except (FlowError, OSError) as error:
        print(f"aioquic: {error}", file=sys.stderr)
        print(json.dumps({"error": str(error)}))
        return 1
    print(json.dumps(report))
    return 0


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="aioquic-flow")
    parser.add_argument("end", choices=("receive", "send"))
    for name in ("address", "certificate", "qlog", "keys", "key", "to", "name", "seed"):
        parser.add_argument(f"--{name}")
    for name in ("window", "mtu", "streams", "volume"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("limit", "duration"):
        parser.add_argument(f"--{name}", type=float)
    parser.add_argument("--cc", choices=_CONTROLS, default="newreno")
    parser.add_argument("--ecn", action="store_true", help="aioquic sends no ECN: without effect")
    return parser.parse_args(arguments)


class _End:
    """The loop of one end: one socket, one connection at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        from aioquic.quic.logger import QuicLogger

        self._options = options
        self._receives = options.end == "receive"
        self._logger = QuicLogger()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(_endpoint(options.address))
        self._socket.setblocking(False)
        self._connection: QuicConnection | None = None
        self._began = time.monotonic()
        self._connected: float | None = None
        self._streams: list[int] = []
        self._written = self._sent = self._received = 0
        self._first = self._last = 0.0
        self._finished = self._closed = self._over = False

    def run(self) -> dict[str, Any]:
        """Run until the flow is over; return the report. Raises FlowError."""
        with open(self._options.keys, "w") as keys:  # noqa: PTH123
            configuration = _configuration(self._options, self._logger, keys)
            if not self._receives:
                self._connect(configuration)
            try:
                while not self._over:
                    self._turn(configuration)
            finally:
                _write_qlog(Path(self._options.qlog), self._options.name, self._logger)
        return self._report()

    def _connect(self, configuration: QuicConfiguration) -> None:
        from aioquic.quic.connection import QuicConnection

        self._connection = QuicConnection(configuration=configuration)
        self._connection.connect(_endpoint(self._options.to), self._began)

    def _turn(self, configuration: QuicConfiguration) -> None:
        now = time.monotonic()
        connection = self._connection
        if connection is not None:
            timer = connection.get_timer()
            if timer is not None and timer <= now:
                connection.handle_timer(now)
            while (event := connection.next_event()) is not None:
                self._take(event, now)
            if not self._receives:
                self._send(connection, now)
            for datagram, address in connection.datagrams_to_send(now):
                self._socket.sendto(datagram, address)
                self._sent += len(datagram)
        if self._receives and now - self._began >= self._options.limit:
            self._over = True
        if not self._over:
            self._wait(now, configuration)

    def _wait(self, now: float, configuration: QuicConfiguration) -> None:
        """Sleep until something arrives or is due, and take what has arrived."""
        ends = self._began + (self._options.limit if self._receives else self._options.duration)
        due = [ends] if now < ends else []
        if self._connected is None and not self._receives:
            due.append(self._began + _PATIENCE_S)
        timer = self._connection.get_timer() if self._connection else None
        if timer is not None:
            due.append(timer)
        timeout = max(0.0, min(due) - now) if due else None
        select.select([self._socket], [], [], timeout)
        now = time.monotonic()
        while True:
            try:
                datagram, address = self._socket.recvfrom(65_536)
            except BlockingIOError:
                return
            if self._connection is None:
                self._connection = _accepted(datagram, configuration)
            if self._connection is not None:
                self._connection.receive_datagram(datagram, address, now)

    def _take(self, event: QuicEvent, now: float) -> None:
        from aioquic.quic import events

        if isinstance(event, events.HandshakeCompleted):
            self._connected = now
        elif isinstance(event, events.StreamDataReceived):
            if event.stream_id not in self._streams:
                self._streams.append(event.stream_id)
            self._received += len(event.data)
            self._first, self._last = self._first or now, now
        elif isinstance(event, events.ConnectionTerminated):
            if not self._closed and event.error_code:
                peer = self._options.to or "the sender"
                raise FlowError(f"{peer}: the connection was lost: {event.reason_phrase}")
            self._over = True

    def _send(self, connection: QuicConnection, now: float) -> None:
        options = self._options
        if self._closed:
            return
        if self._connected is None:
            if now - self._began >= min(_PATIENCE_S, options.duration):
                raise FlowError(
                    f"{options.to} does not answer by UDP within {_PATIENCE_S:g} s. Look for a "
                    "firewall that blocks UDP, and whether the receiver runs"
                )
            return
        while len(self._streams) < options.streams:
            self._streams.append(connection.get_next_available_stream_id(is_unidirectional=True))
            connection.send_stream_data(self._streams[-1], b"\0")
            self._written += 1
        volume = options.volume
        while self._written - self._sent < _QUEUED_BYTES and (
            volume is None or self._written < volume
        ):
            size = len(_CHUNK) if volume is None else min(len(_CHUNK), volume - self._written)
            stream = self._streams[(self._written // len(_CHUNK)) % len(self._streams)]
            connection.send_stream_data(stream, _CHUNK[:size])
            self._written += size
        if volume is not None and self._written == volume and not self._finished:
            self._finished = True
            for stream in self._streams:
                connection.send_stream_data(stream, b"", end_stream=True)
        late = now - self._began >= options.duration
        # aioquic has no event for a stream that was acknowledged.
        ends = (connection._streams[one].sender for one in self._streams)
        if self._finished and all(one.is_finished for one in ends):
            self._close(connection)
        elif late and volume is not None:
            raise FlowError(f"{volume / 1e6:g} MB were not sent within {options.duration:g} s")
        elif late:
            self._close(connection)

    def _close(self, connection: QuicConnection) -> None:
        self._closed = True
        connection.close(error_code=0)

    def _report(self) -> dict[str, Any]:
        if not self._receives:
            return {"written_bytes": self._written, "udp_bytes": self._sent}
        if self._connection is None:
            limit = f"{self._options.limit:g} s"
            raise FlowError(f"no sender came within {limit}. Look for a firewall that blocks UDP")
        lasted_s = round(self._last - self._first, 9)
        return {
            "received_bytes": self._received,
            "receiving_s": lasted_s,
            "streams": len(self._streams),
        }


def _configuration(options: argparse.Namespace, logger: QuicLogger, keys: Any) -> QuicConfiguration:
    from aioquic.quic.configuration import QuicConfiguration

    receives = options.end == "receive"
    configuration = QuicConfiguration(
        is_client=not receives,
        alpn_protocols=[_PROTOCOL],
        congestion_control_algorithm=_CONTROLS[options.cc],
        idle_timeout=_IDLE_S,
        max_data=options.window,
        max_stream_data=options.window,
        max_datagram_size=options.mtu - _HEADERS_BYTES,
        quic_logger=logger,
        secrets_log_file=keys,
        server_name=None if receives else _SERVER_NAME,
    )
    if receives:
        configuration.load_cert_chain(options.certificate, options.key)
    else:
        configuration.load_verify_locations(options.certificate)
    return configuration


def _accepted(datagram: bytes, configuration: QuicConfiguration) -> QuicConnection | None:
    """Return the connection that a client's first datagram begins."""
    from aioquic.buffer import Buffer  # type: ignore[attr-defined]
    from aioquic.quic.connection import QuicConnection
    from aioquic.quic.packet import QuicPacketType, pull_quic_header

    try:
        header = pull_quic_header(Buffer(data=datagram), configuration.connection_id_length)
    except ValueError:
        return None
    if header.packet_type != QuicPacketType.INITIAL:
        return None
    return QuicConnection(
        configuration=configuration, original_destination_connection_id=header.destination_cid
    )


def _write_qlog(file: Path, name: str, logger: QuicLogger) -> None:
    """Write aioquic's events as JSON-SEQ, as quic-flow does."""
    content = logger.to_dict()
    traces = content["traces"] or [{"events": []}]
    trace = {key: value for key, value in traces[0].items() if key != "events"}
    header = {
        "qlog_version": content["qlog_version"],
        "qlog_format": "JSON-SEQ",
        "title": name,
        "description": "aioquic",
        "trace": trace,
    }
    with file.open("w") as output:
        for record in (header, *traces[0]["events"]):
            output.write(f"{_RECORD}{json.dumps(record, separators=(',', ':'))}\n")


def _endpoint(text: str) -> tuple[str, int]:
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
