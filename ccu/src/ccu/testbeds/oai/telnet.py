# SPDX-License-Identifier: Apache-2.0
"""A client of the softmodems' telnet server: one command, one answer, one connection.

It uses plain sockets, not telnetlib3: the server negotiates nothing (it sends no IAC) and accepts
one client at a time, and each wait needs a timeout. It uses no event loop: a run's other parts
are polled processes, and one thread per modem suffices.

The server ends an answer with its prompt only, and `rfsimu …` prints the prompt *before* its
answer: an answer is complete when the prompt has come and nothing more within a pause, or, if the
caller knows how the answer ends, when that has come.

Commands cannot be pipelined: the server treats the data of one recv() as one command
(common/utils/telnetsrv/telnetsrv.c, 2023 to 2026), so a second line in it is silently lost.
"""

from __future__ import annotations

import json
import re
import socket
import time
from dataclasses import dataclass
from typing import Any

PROMPT = re.compile(r"softmodem_\w+> ")
_PAUSE_S = 0.05
"""An answer whose end is unknown is complete after this pause."""
_PATIENCE_S = 2.0
"""Timeout of a connection and of an answer."""
_NEWEST_WEIGHT = 0.2
"""The weight of the newest duration in `Softmodem.answer_s`."""


class TelnetFailed(Exception):  # noqa: N818
    """The server refused, did not answer, or closed the connection; the text says which and
    where."""


@dataclass(frozen=True)
class ChannelModel:
    """An entry of `channelmod show current`."""

    index: int
    name: str
    kind: str
    ploss_db: float
    noise_db: float


class Softmodem:
    """A connection to the telnet server at `address`."""

    def __init__(self, address: str, port: int) -> None:
        self._where = f"{address}:{port}"
        self.answer_s = 0.0
        """The duration of an answer to a setting: an exponentially weighted moving average."""
        try:
            self._socket = socket.create_connection((address, port), _PATIENCE_S)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def ask(self, command: str, ends: re.Pattern[str] | None = None) -> str:
        """Return the answer to `command` without prompts. `ends` matches a complete answer.

        Raises TelnetFailed if none comes in time or the connection breaks.
        """
        self._drain()
        try:
            self._socket.sendall(command.encode() + b"\n")
            return self._answer(command, ends)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from None

    def _drain(self) -> None:
        """Discard late data, which belongs to the previous command."""
        self._socket.settimeout(0)
        try:
            while self._socket.recv(65536):
                pass
        except OSError:  # No more data; a broken connection fails at the next command.
            return

    def _answer(self, command: str, ends: re.Pattern[str] | None) -> str:
        deadline = time.monotonic() + _PATIENCE_S
        text = ""
        while True:
            prompted = PROMPT.search(text) is not None
            if prompted and ends is not None and ends.search(text):
                return PROMPT.sub("", text)
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                if prompted:
                    return PROMPT.sub("", text)
                raise self._failed(f"no answer to {command!r}")
            self._socket.settimeout(min(left_s, _PAUSE_S) if prompted and ends is None else left_s)
            try:
                chunk = self._socket.recv(65536)
            except TimeoutError:
                if prompted and ends is None:
                    return PROMPT.sub("", text)
                continue
            if not chunk:
                raise self._failed("closed the connection")
            text += chunk.decode(errors="replace")

    def _failed(self, why: str) -> TelnetFailed:
        return TelnetFailed(f"telnet server {self._where}: {why}")

    def models(self) -> list[ChannelModel]:
        """Return the current channel models."""
        return parse_models(self.ask("channelmod show current", _MODELS_END))

    def modify(self, index: int, parameter: str, value: float) -> None:
        """Set one parameter of a channel model and verify it. Raises TelnetFailed."""
        began_s = time.monotonic()
        answer = self.ask(f"channelmod modify {index} {parameter} {value:g}", _DESCRIPTOR_END)
        self.answer_s += (time.monotonic() - began_s - self.answer_s) * _NEWEST_WEIGHT
        label = {"ploss": r"path loss", "noise_power_dB": r"noise"}[parameter]
        match = re.search(rf"{label}: (-?[\d.]+)", answer)
        if match is None or abs(float(match[1]) - value) > 1e-3:
            reported = match[1] if match else "nothing"
            raise self._failed(
                f"{parameter} of model {index} is {reported} after {value:g} was set"
            )

    def radio_time(self) -> tuple[int, float]:
        """Return rfsim's simulated samples since the start, and samples per second."""
        # Without an argument, the server frees a buffer that it never set, and the gNB crashes.
        match = _VTIME.search(self.ask("rfsimu vtime now", _VTIME))
        if match is None:
            raise self._failed("rfsimu vtime reported no time")
        return int(match[1]), float(match[2])

    def statistics(self) -> dict[str, Any]:
        """Return the JSON of `o1 stats`."""
        return parse_statistics(self.ask("o1 stats", _STATISTICS_END))


_VTIME = re.compile(r"vtime measurement: TS (\d+) sample_rate ([\d.]+)\r?\n")
_DESCRIPTOR_END = re.compile(r"Initial phase: .*\r?\n")
_MODELS_END = re.compile(r"-{8,}\s*softmodem_\w+> ")
_STATISTICS_END = re.compile(r"^(OK|ERROR.*)\r?$", re.MULTILINE)
_MODEL = re.compile(
    r"^model (\d+) (\S+) type (\S+?):\s*$(?:.*\n)*?.*path loss: (-?[\d.]+)\s+noise: (-?[\d.]+)",
    re.MULTILINE,
)


def parse_models(answer: str) -> list[ChannelModel]:
    """Parse `channelmod show current`, as 2026.w11 prints it."""
    return [
        ChannelModel(int(match[1]), match[2], match[3], float(match[4]), float(match[5]))
        for match in _MODEL.finditer(answer.replace("\r", ""))
    ]


def parse_statistics(answer: str) -> dict[str, Any]:
    """Parse `o1 stats`: an object, then OK. Raises TelnetFailed."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        statistics: dict[str, Any] = json.loads(answer[start : end + 1])
    except ValueError:
        raise TelnetFailed(f"o1 stats answered no JSON: {answer[:80]!r}") from None
    return statistics
