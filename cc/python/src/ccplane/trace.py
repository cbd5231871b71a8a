# SPDX-License-Identifier: Apache-2.0
"""The record of every report and its answer (docs/run-directory.md, raw/cc-NAME.csv)."""

from __future__ import annotations

import time
from pathlib import Path

from ccplane.abi import EVENTS, Report
from ccplane.flow import Flow

COLUMNS = (
    "utc_ns", "sport", "dport", "event", "ca_state", "acks_count", "acked_packets",
    "losses_packets", "rtt_us", "rtt_min_us", "srtt_us", "min_rtt_us", "rate_bps",
    "inflight_packets", "cwnd_packets", "pacing_bps", "delivered_packets", "lost_packets",
    "delivered_ce_packets", "fallback", "applied_us", "overdue_us", "told_us", "told_cwnd_packets",
    "told_pacing_bps", "refused",
)  # fmt: skip
_FLUSH_NS = 1_000_000_000
_UNLIMITED = 2**64 - 1  # bytes/s: no pacing


class Trace:
    """A CSV file with a row for each report."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w", encoding="utf-8")
        self._file.write(",".join(COLUMNS) + "\n")
        self._utc_ns = time.time_ns() - time.monotonic_ns()
        self._flushed_ns = 0

    def add(
        self,
        report: Report,
        flow: Flow,
        overdue_ns: int,
        told_ns: int | None,
        refused: str | None,
    ) -> None:
        """Append a report; `told_ns`: when the command that answers it was there; None: none."""
        r = report
        pacing_bps = r.pacing_rate * 8 if r.pacing_rate < _UNLIMITED else ""
        answer = ",,"
        if told_ns is not None:
            answer = f"{(told_ns - r.time_ns) / 1000},{flow.cwnd:.6g},{flow.pacing_bps:.6g}"
        quoted = '"' + refused.replace('"', "'") + '"' if refused else ""
        acks, acked = (r.acks, r.acked) if r.event == 0 else (0, 0)
        # Each report comes here, and to format all at once is the quickest.
        self._file.write(
            f"{r.time_ns + self._utc_ns},{flow.local_port},{flow.remote_port},{EVENTS[r.event]},"
            f"{r.ca_state},{acks},{acked},{r.losses},{r.rtt_us or ''},{r.rtt_min_us or ''},"
            f"{r.srtt_us},{r.min_rtt_us},{round(r.rate_bps) or ''},{r.inflight},{r.cwnd},"
            f"{pacing_bps},{r.delivered},{r.lost},{r.delivered_ce},{int(r.fallback)},"
            f"{r.applied_after_ns / 1000 if r.applied_after_ns else ''},"
            f"{overdue_ns / 1000 if r.event == 0 else ''},{answer},{quoted}\n"
        )
        if r.time_ns - self._flushed_ns > _FLUSH_NS:
            self.flush()
            self._flushed_ns = r.time_ns

    def flush(self) -> None:
        self._file.flush()
