# SPDX-License-Identifier: Apache-2.0
"""The flow, as a policy controls it."""

from __future__ import annotations

import hashlib
import math
from numbers import Real

from ccplane.abi import COMMAND, MOST_PACKETS, Report

_MOST_BPS = 1e12
_MOST_PERIOD_MS = 1000.0
_LIMITS = (
    ("cwnd", 1e-9, MOST_PACKETS),
    ("pacing_bps", 0.0, _MOST_BPS),
    ("ssthresh", 0.0, MOST_PACKETS),
    ("period_ms", 0.0, _MOST_PERIOD_MS),
)


class Flow:
    """One TCP connection. What a policy sets here holds from the next ACK or departure on."""

    __slots__ = (
        "cwnd", "generation", "index", "local_port", "mss", "pacing_bps", "period_ms",
        "remote_port", "seed", "sequence", "ssthresh",
    )  # fmt: skip

    def __init__(self, start: Report, period_ms: float, run_seed: int = 1) -> None:
        self.index, self.generation, self.sequence = start.flow_index, start.generation, 0
        self.local_port, self.remote_port = start.acks, start.acked
        drawn = f"{run_seed} {self.local_port} {self.remote_port}".encode()
        self.seed = int.from_bytes(hashlib.blake2s(drawn, digest_size=8).digest(), "little")
        """The seed of a random generator, another one for each flow and each seed of the run."""
        self.mss = start.mss
        """Bytes of payload in a packet."""
        self.cwnd: float = start.cwnd
        """Window in packets; the kernel gets its whole part, at least 1."""
        self.pacing_bps: float = 0.0
        """Pacing rate, bit/s; 0: 1.2 windows per round trip, 2 below half of `ssthresh`."""
        self.ssthresh: float = 0.0
        """Slow start threshold in packets, for pacing, and for Reno if it takes over; 0: keep."""
        self.period_ms = period_ms
        """Time between reports; 0: a report for each ACK."""

    def refusal(self) -> str | None:
        """Return which value no flow can have; None: all can be used."""
        for name, least, most in _LIMITS:
            value = getattr(self, name)
            # Each report comes here: what is usual is quick, and NaN is within no limits.
            if type(value) in (float, int) and least <= value <= most:
                continue
            number = _as_float(value) if isinstance(value, Real) else value
            if not isinstance(number, float) or not math.isfinite(number):
                return f"{name} is {number!r}, not a finite number"
            if not least <= number <= most:
                return f"{name} is {number:g}, outside of {least:g} to {most:,.0f}"
        return None

    @property
    def newest(self) -> int:
        """The number of the newest command; another flow at this index had others."""
        return self.generation << 48 | self.sequence

    def command(self, report_ns: int) -> bytes:
        """Return the next command, in answer to the report of that time (0: to none)."""
        self.sequence += 1
        return COMMAND.pack(
            self.newest,
            report_ns,
            max(1, int(self.pacing_bps / 8)) if self.pacing_bps else 0,  # 0: no rate
            max(1, int(self.cwnd)),
            int(self.ssthresh),
            int(self.period_ms * 1000),
            self.generation,
            0,
        )


def _as_float(number: Real) -> float:
    try:
        return float(number)
    except OverflowError:  # an int of more than 308 digits
        return math.inf
