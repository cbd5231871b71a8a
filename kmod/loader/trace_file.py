# SPDX-License-Identifier: GPL-2.0-only
"""The trace as CSV, one row for each SI; columns in docs/run-directory.md, raw/cc-reminis.csv."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import NamedTuple

ACTIONS = ("none", "nde", "ps", "cm")  # by enum reminis_action
_NDE = 1
_RECORD = struct.Struct("=Qqii7I2H2B6x")  # struct trace_record of bpf/trace_record.h
_ONE_Q24 = 1 << 24
_HEADER = (
    "utc_ns,sport,dport,zone,action,delay_us,min_rtt_us,dtt_us,gradient,mu,draw,cwnd_before,"
    "cwnd_after,si_us,samples\n"
)


class Record(NamedTuple):
    """One SI of one flow."""

    monotonic_ns: int
    gradient_q24: int
    mu_q24: int
    draw_q24: int
    delay_us: int
    min_rtt_us: int
    dtt_us: int
    si_us: int
    samples: int
    cwnd_before: int
    cwnd_after: int
    local_port: int
    remote_port: int
    zone: int
    action: int


def unpacked(content: bytes) -> Record:
    """Return a record of the BPF program."""
    return Record._make(_RECORD.unpack(content))


class TraceFile:
    """The file. A failed write, such as on a full disk, is kept: the flows go on."""

    def __init__(self, path: Path | None) -> None:
        """Create the file; None: only count records. Raises OSError."""
        self._path = path
        self._file = path.open("w") if path else None
        self._utc_minus_monotonic_ns = 0
        self.record_count = 0
        self.error: OSError | None = None
        if self._file:
            self._file.write(_HEADER)
            self._file.flush()

    def sync_clock(self) -> None:
        """Measure the offset of UTC to the clock of the records; call it before each batch."""
        self._utc_minus_monotonic_ns = min(_measured() for _ in range(5))[1]

    def write(self, t: Record) -> None:
        """Append a record."""
        self.record_count += 1
        if not self._file or self.error:
            return
        draw = f"{t.draw_q24 / _ONE_Q24:.6f}" if t.action == _NDE else ""
        row = (
            f"{t.monotonic_ns + self._utc_minus_monotonic_ns},{t.local_port},{t.remote_port},"
            f"{t.zone},{ACTIONS[t.action]},{t.delay_us},{t.min_rtt_us},{t.dtt_us},"
            f"{t.gradient_q24 / _ONE_Q24:.6f},{t.mu_q24 / _ONE_Q24:.6f},{draw},"
            f"{t.cwnd_before},{t.cwnd_after},{t.si_us},{t.samples}\n"
        )
        try:
            self._file.write(row)
        except OSError as error:
            self.error = error

    def flush(self) -> None:
        """Write out what there is."""
        try:
            if self._file and not self.error:
                self._file.flush()
        except OSError as error:
            self.error = error

    @property
    def failure(self) -> str | None:
        """The sentence that says why the trace is incomplete; None: it is not."""
        if self.error is None:
            return None
        return f"{self._path}: {self.error.strerror}. The trace is incomplete"

    def discard(self) -> None:
        """Remove the file: the command failed before it wrote records."""
        if self._path and self._path.is_file():
            self._path.unlink()


def _measured() -> tuple[int, int]:
    """Return how long a measurement took, and the offset. Longer ones were interrupted."""
    before_ns, utc_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return after_ns - before_ns, utc_ns - (before_ns + after_ns) // 2
