# SPDX-License-Identifier: Apache-2.0
"""Packets before another one in its UE's queue."""

from __future__ import annotations

import pandas as pd
import pytest

from ddu import explain
from testsupport.synthetic_run import MS

PATH_MS = 20


@pytest.mark.parametrize("direction", ["dl", "ul"])
@pytest.mark.parametrize(("queue_ms", "count"), [(5, 0), (15, 1)])
def test_the_path_is_no_time_in_the_queue(direction: str, queue_ms: int, count: int) -> None:
    """The first of two packets, sent 10 ms apart, is in the radio for `queue_ms`."""
    packets = pd.DataFrame({
        "utc_ns": [0, 10 * MS], "ue": 0, "direction": direction, "ip_bytes": 1500,
        "delay_ns": [(PATH_MS + queue_ms) * MS, (PATH_MS + 1) * MS], "delay_sender_ns": 0,
        "delay_receiver_ns": 0, "delay_path_ns": PATH_MS * MS, "delay_line_ns": 0,
    })  # fmt: skip
    said = explain._before(packets, packets.iloc[1])
    assert said == f": {count} packets, {1500 * count} bytes of the run's flows"
