# SPDX-License-Identifier: Apache-2.0
"""Our BPF sources for congestion controls of Linux, beside the kernel's own.

Both runs load the module of ours, and have one flow; they differ in the name that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from ccu.congestion import native
from ddu.readers.sockets import read_sockets
from testsupport.virtual_time import VirtualRun, constant

SOURCES = Path(__file__).parents[2] / "cc/bpf"
SECONDS = 20
PATHS: dict[str, dict[str, Any]] = {
    "no loss": {"queue": {way: {"packets": 3200} for way in ("dl", "ul")}},
    "losses of the queue": {"queue": {way: {"packets": 20} for way in ("dl", "ul")}},
    "random losses": {"path": {way: {"delay_ms": 20, "loss_ratio": 0.001} for way in ("dl", "ul")}},
}
WINDOW = ["snd_cwnd_packets", "snd_ssthresh_packets"]


@pytest.mark.parametrize("cc", ["illinois", "vegas"])
@pytest.mark.parametrize("path", PATHS)
def test_a_stand_in_sends_what_the_kernels_own_sends(
    virtual: Callable[..., VirtualRun], tmp_path: Path, cc: str, path: str
) -> None:
    """Each packet and each ACK at the same nanosecond, and the same window at each millisecond."""
    ours = tmp_path / "standin.bpf.c"
    ours.write_text((SOURCES / f"{cc}.bpf.c").read_text().replace(cc, "standin"))
    module = tmp_path / "cc_standin.ko"
    module.write_bytes(native.module("standin", ours))
    runs = [
        virtual(
            {
                "modules": [str(module)],
                "flows": [{"cc": one, "direction": "dl", "duration_s": SECONDS}],
                "capture": {"files": {"server": "sender.pcap", "ue": "receiver.pcap"}},
                "sockets": {"interval_ms": 1, "files": {"server": "sockets.pcap"}},
            },
            name=one,
            scenario=constant(24, 100),
            **PATHS[path],
        )
        for one in (cc, "standin")
    ]
    kernels, own = (read_sockets(run.folder / "sockets.pcap").table for run in runs)
    data = [table.filter(pc.equal(table["cong"], one)) for table, one in
            ((kernels, cc), (own, "standin"))]  # fmt: skip
    assert data[0].num_rows > 900 * SECONDS
    assert pc.count_distinct(data[0]["snd_cwnd_packets"]).as_py() > 20
    assert data[0].select(["utc_ns", *WINDOW]).equals(data[1].select(["utc_ns", *WINDOW]))
    # The reports name the congestion control, and so do the samples.
    reports = ("sockets.pcap", "flows.json")
    kernels_files, own_files = (run.digests(*reports) for run in runs)
    assert kernels_files.keys() == {"sender.pcap", "receiver.pcap", "mac.csv"}
    assert kernels_files == own_files
