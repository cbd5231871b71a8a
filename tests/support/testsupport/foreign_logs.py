# SPDX-License-Identifier: Apache-2.0
"""Generated runs that logs of other programs go with, and such a log."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from testsupport.synthetic_run import MS, T0, SyntheticRun, steady

HOUR_NS = 3_600_000_000_000
HEADER = "utc_ns,duration_ns,ue,mac_rsrp_dbm,mac_dl_mcs,mac_dl_sdu_bytes,mac_dl_capacity_sdu_bytes"

HANDOVER = (
    {"utc_ns": T0, "ue": 0, "kind": "cell_selected", "cell": 0},
    {
        "utc_ns": T0 + 40 * MS, "ue": 0, "kind": "handover_start", "cell": 0, "target": 1,
        "handover": "a3",
    },
    {
        "utc_ns": T0 + 50 * MS, "ue": 0, "kind": "handover_complete", "cell": 0, "target": 1,
        "handover": "a3", "interruption_ns": 10 * MS, "processing_ns": 4 * MS,
        "synchronisation_ns": 3 * MS, "access_ns": 3 * MS, "ping_pong": False,
    },
    {
        "utc_ns": T0 + 52 * MS, "ue": 0, "kind": "data_forwarded", "cell": 0, "target": 1,
        "forwarded_bytes": 3000, "retransmitted_bytes": 1500, "discarded_bytes": 0,
    },
)  # fmt: skip


def wandering(seconds: int = 40) -> tuple[SyntheticRun, np.ndarray, np.ndarray]:
    """A flow whose rate wanders; when its packets arrive (ns from T0), and bytes until then."""
    rng = np.random.default_rng(7)
    gaps = np.exp(np.repeat(np.cumsum(rng.normal(0, 0.4, seconds * 2)), 40))
    sent = (np.cumsum(gaps / gaps.sum()) * seconds * 1e9).astype(np.int64)
    sent -= sent[0]
    run = SyntheticRun()
    run.handshake()
    for index, at in enumerate(sent.tolist()):
        run.data(at, index * 1448, 1448, 100 + index, at + 10 * MS)
        run.ack(at + 10 * MS, (index + 1) * 1448, 100 + index, at + 20 * MS)
    return run, sent + 10 * MS, 1500 * np.arange(1, len(sent) + 1)


def full_run(directory: Path) -> Path:
    """A run with MAC, link, a handover at 50 ms, and the text of ss."""
    run = steady().write(
        directory / "run",
        mac={"file": "raw/mac.csv", "source": "nr-link"},
        link={"file": "raw/link.csv"},
        sockets=[{"host": "server", "file": "raw/core.cc", "interval_ms": 20, "source": "ss"}],
    )
    rows = [
        f"{T0 + i * 10 * MS},{10 * MS},0,-50,20,{i * 100},{i * 200},{int(i >= 5)},0"
        for i in range(12)
    ]
    header = f"{HEADER},mac_cell,mac_state"
    (run / "raw" / "mac.csv").write_text("\n".join([header, *rows]) + "\n")
    (run / "raw" / "radio-events.jsonl").write_text(
        "".join(json.dumps(event) + "\n" for event in HANDOVER)
    )
    (run / "raw" / "link.csv").write_text(
        "utc_ns,duration_ns,lateness_p99_us,overrun_count,host_drop_count,cpu_ratio\n"
        + "".join(f"{T0 + i * 10 * MS},{10 * MS},5,0,0,0.5\n" for i in range(12))
    )
    (run / "raw" / "core.cc").write_text(ss_text(0))
    return run


def ss_text(zone_h: int) -> str:
    """A sample each 20 ms with a time of day of a zone, as Hercules's scripts write it."""
    text = ""
    for index in range(12):
        at_ns = T0 + (index - 1) * 20 * MS + zone_h * HOUR_NS
        seconds, rest = divmod(at_ns, 1_000_000_000)
        text += (
            "State   Recv-Q    Send-Q    Local Address:Port    Peer Address:Port\n"
            "ESTAB   0    79640    10.45.0.1:40001    10.45.0.2:5201\n"
            f"\t cubic rto:212 rtt:9.061/4.657 mss:1448 cwnd:{10 + index} unacked:10\n\n"
            f"{datetime.fromtimestamp(seconds, timezone.utc):%H%M%S}.{rest // 1000:06d}\n\n"
        )
    return text
