# SPDX-License-Identifier: Apache-2.0
"""The rate of real TCP over the link, compared with the radio's capacity."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from testbed_testing.runs import Runs

pytestmark = pytest.mark.realtime

CONGESTION_CONTROLS = ["reminis", "cubic", "bbr", "reno"]
STATIC = ("--scenario", "static", "--duration", "5s")
# Long enough to leave slow start behind, and with the buffer of a bandwidth-delay product or more.


def arguments(cc: str, direction: str, prb: str) -> tuple[str, ...]:
    return ("--cc", cc, direction, "--prb", prb, *STATIC)


def saturating(direction: str) -> tuple[str, ...]:
    return (direction, "--prb", "106", "--traffic", "udp:250M", *STATIC)


@pytest.fixture(scope="module", autouse=True)
def _two_at_a_time(runs: Runs, request: pytest.FixtureRequest) -> None:
    """Make the runs of the selected tests, two at a time: links far below their maximum speed."""
    made_by = {
        "test_no_congestion_control_gets_more_than_the_radio_has": arguments,
        "test_udp_saturation_is_what_the_mac_says_it_carried": saturating,
    }
    here = [item for item in request.session.items if item.module is request.module]
    runs.make(
        [
            made_by[item.originalname](**item.callspec.params)
            for item in here
            if item.originalname in made_by
        ]
    )


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--dl", "--ul"])
@pytest.mark.parametrize("cc", CONGESTION_CONTROLS)
@pytest.mark.parametrize("prb", ["24", "106"])
def test_no_congestion_control_gets_more_than_the_radio_has(
    runs: Runs, cc: str, direction: str, prb: str
) -> None:
    summary = runs.summary(*arguments(cc, direction, prb))
    assert summary["cc"] == cc
    # Reminis trades throughput for delay; the others fill the queue.
    assert (0.2 if cc == "reminis" else 0.8) < summary["utilisation_ratio"] <= 1.0


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["dl", "ul"])
@pytest.mark.parametrize("cc", ["cubic", "bbr", "reno"])
def test_throughput_follows_the_transport_block_size(runs: Runs, cc: str, direction: str) -> None:
    """24 against 106 PRB: in the ratio of what the MAC could carry, within 10 %."""
    narrow, wide = (runs(*arguments(cc, f"--{direction}", prb)) for prb in ("24", "106"))

    def steady(run: object, column: str) -> float:
        """Mean over the second half, after slow start."""
        table = pd.read_parquet(f"{run}/tables/aligned.parquet")
        return float(table[table["t_s"] > 2.5][column].mean())

    throughput = steady(wide, "tcp_throughput_bps") / steady(narrow, "tcp_throughput_bps")
    capacity = steady(wide, f"mac_{direction}_capacity_bps") / steady(
        narrow, f"mac_{direction}_capacity_bps"
    )
    assert throughput == pytest.approx(capacity, rel=0.10)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_the_floor_of_the_rtt_is_the_path_and_the_macs_own_delay(
    runs: Runs, direction: str
) -> None:
    run = runs(*arguments("reno", direction, "106"))
    summary = json.loads((run / "summary.json").read_text())
    mac_ms = summary["mac_floor_ms"]["dl"] + summary["mac_floor_ms"]["ul"]
    extra_ms = summary["rtt_floor_ms"] - summary["path_rtt_ms"]
    assert -0.01 <= extra_ms <= mac_ms + 1.5


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_udp_saturation_is_what_the_mac_says_it_carried(runs: Runs, direction: str) -> None:
    """Within 2 %, and the MAC's bytes are the receiver's bytes and headers."""
    summary = runs.summary(*saturating(direction))
    checks = summary["cross_checks"]
    assert summary["utilisation_ratio"] == pytest.approx(1.0, abs=0.02)
    assert checks["mac_sdu_bytes"] == pytest.approx(checks["receiver_ip_bytes"], rel=0.02)
