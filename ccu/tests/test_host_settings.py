# SPDX-License-Identifier: Apache-2.0
"""Settings of the hosts: limits of socket buffers, and when flows start."""

from __future__ import annotations

import pytest

from ccu.scenarios.resolve import resolve
from ccu.testbeds.virtual_time.plan import plan_of
from ccu.traffic import plan
from ddu.console.problems import RefusedError

FLOWS = "cubic@0,reno@1"


def starts_s(**written: object) -> list[float]:
    return [flow.start_s for flow in plan(resolve({"flows": FLOWS, **written}))]


@pytest.mark.parametrize(
    ("written", "to_send", "to_receive"),
    [("stock", 4 << 20, 6 << 20), ("6MiB", 6 << 20, 6 << 20), (None, 64 << 20, 64 << 20)],
)
def test_socket_buffers_grow_as_far_as_asked(
    written: str | None, to_send: int, to_receive: int
) -> None:
    options = {} if written is None else {"socket_buffer": written}
    experiment = resolve({"cc": "cubic", **options})
    sysctls = plan_of(experiment, plan(experiment), {})["sysctls"]
    assert sysctls["net.ipv4.tcp_wmem"] == f"4096 16384 {to_send}"
    assert sysctls["net.ipv4.tcp_rmem"] == f"4096 131072 {to_receive}"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("big", "write for example stock or 64MiB"),
        ("3B", "'3B' is not between 64KiB and 1GiB"),
        ("2GiB", "'2GiB' is not between 64KiB and 1GiB"),
    ],
)
def test_other_socket_buffers_are_refused(written: str, printed: str) -> None:
    with pytest.raises(RefusedError, match=f"(?i){printed}"):
        resolve({"cc": "cubic", "socket_buffer": written})


def test_each_flow_starts_at_a_time_of_its_seed() -> None:
    assert starts_s(seed=1) == [0.0, 1.0]
    first = starts_s(seed=1, start_jitter="100ms")
    assert first == starts_s(seed=1, start_jitter="100ms")
    assert first != starts_s(seed=2, start_jitter="100ms")
    assert first[0] + 1 != first[1]
    assert all(0 <= late - own <= 0.1 for late, own in zip(first, (0, 1), strict=True))
