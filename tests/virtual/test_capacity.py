# SPDX-License-Identifier: Apache-2.0
"""Linux's TCP uses the radio's capacity, and no more than that."""

from __future__ import annotations

import pytest

from testsupport.runs import Runs, flow_report

DIRECTIONS = ["dl", "ul"]
CAPACITY_FILLING = ["cubic", "bbr", "reno"]
# 1500-byte packets: 20 bytes each of IP and TCP, 12 of TCP's timestamps.
PAYLOAD_SHARE = 1448 / 1500
GIGABIT = ("--scenario", "constant-1G", "--rtt", "20ms", "--buffer", "2.5MB", "--no-capture")


def static(cc: str, direction: str, prb: int) -> tuple[str, ...]:
    """Long enough to leave slow start behind."""
    radio = (f"--{direction}", "--prb", str(prb), "--scenario", "static")
    return ("--cc", cc, *radio, "--duration", "5s")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("cc", ["reminis", *CAPACITY_FILLING])
@pytest.mark.parametrize("prb", [24, 106])
def test_no_congestion_control_gets_more_than_the_radio_has(
    experiments: Runs, cc: str, direction: str, prb: int
) -> None:
    summary = experiments.summary(*static(cc, direction, prb))
    assert summary["cc"] == cc
    # Reminis trades throughput for delay; the others fill the queue.
    assert (0.3 if cc == "reminis" else 0.85) < summary["utilisation_ratio"] <= 1.0


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("cc", CAPACITY_FILLING)
def test_throughput_follows_the_transport_block_size(
    experiments: Runs, cc: str, direction: str
) -> None:
    """24 against 106 PRB: in the ratio of what the MAC could carry, within 3 %."""

    def steady(prb: int, column: str) -> float:
        """Mean over the second half, after slow start."""
        table = experiments.table(*static(cc, direction, prb))
        return float(table[table["t_s"] > 2.5][column].mean())

    def ratio(column: str) -> float:
        return steady(106, column) / steady(24, column)

    capacity = ratio(f"mac_{direction}_capacity_bps")
    assert ratio("tcp_throughput_bps") == pytest.approx(capacity, rel=0.03)


@pytest.mark.parametrize("cc", ["cubic", "bbr"])
def test_a_gigabit_is_filled_within_one_per_cent(experiments: Runs, cc: str) -> None:
    run = experiments("--cc", cc, *GIGABIT, "--duration", "6s")
    parts = [one for one in flow_report(run)["receiver"] if 3 <= one["start_s"] < 5.5]
    assert len(parts) >= 2
    lasted_s = sum(part["end_s"] - part["start_s"] for part in parts)
    goodput_bps = 8 * sum(part["bytes"] for part in parts) / lasted_s
    assert goodput_bps == pytest.approx(1e9 * PAYLOAD_SHARE, rel=0.01)
    assert goodput_bps < 1.0001 * 1e9 * PAYLOAD_SHARE  # to a packet at the borders
