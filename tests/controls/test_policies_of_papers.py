# SPDX-License-Identifier: Apache-2.0
"""The policies in cc/policies that follow papers do what their papers report of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from testsupport.oracle import is_above, measured, oracles_front
from testsupport.runs import Runs, json_of, received_bps, received_bps_by_second

LINK_MBPS = 48.0


def rates_mbps(run: Path, flow: str = "f0") -> list[float]:
    """Return the rate at which the receiver got bytes in each second."""
    return [rate / 1e6 for rate in received_bps_by_second(run, flow)]


def mean_mbps(run: Path, flow: str = "f0") -> float:
    return received_bps(run, flow) / 1e6


def chosen_mbps(run: Path, name: str, dport: str = "5201") -> list[tuple[float, float]]:
    """The pacing rates that the policy chose: seconds after the flow's start, Mbit/s."""
    with (run / f"raw/cc-{name}.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["dport"] == dport]
    began_ns = int(rows[0]["utc_ns"])
    return [
        ((int(row["utc_ns"]) - began_ns) / 1e9, float(row["told_pacing_bps"]) / 1e6)
        for row in rows
        if row["told_pacing_bps"]
    ]


def link(folder: Path, capacity: str) -> Path:
    """A scenario of that capacity downlink, without radio."""
    file = folder / "link.yaml"
    file.write_text(
        "schema: rf-scenario/1\nname: link\nsummary: a link\nsources: [chosen]\n"
        "license: Apache-2.0\nduration_s: 120\n"
        f"capacity: {{dl: {capacity}, ul: {{constant_mbps: 100}}}}\n"
    )
    return file


@pytest.fixture
def steady(kernel: Path, tmp_path: Path) -> Path:
    return link(tmp_path, f"{{constant_mbps: {LINK_MBPS:g}}}")


def test_vivace_takes_seconds_to_come_down_after_a_drop(experiments: Runs, tmp_path: Path) -> None:
    """Figure 1 of the Reminis paper: more than 10 s. Its intervals are as long as the queue."""
    drop = link(tmp_path, "{steps_mbps: [[0, 96], [20, 24]]}")
    path = ("--scenario", drop, "--buffer", "800pkt", "--duration", "60s")
    rates = chosen_mbps(experiments("--cc", "vivace", *path), "vivace")
    before, soon, late = (
        [rate for time_s, rate in rates if begin <= time_s < begin + 3] for begin in (17, 27, 55)
    )
    assert 80 < sum(before) / len(before) < 96
    assert sum(soon) / len(soon) > 1.5 * 24  # 48 to 82 Mbit/s with the seeds 1 to 5
    assert 0.8 * 24 < sum(late) / len(late) < 24


def test_two_vivace_flows_share_a_link(experiments: Runs, steady: Path) -> None:
    flows = ("--flows", "vivace@0,vivace@5", "--scenario", steady, "--duration", "40s")
    run = experiments(*flows)
    rates = [sum(rates_mbps(run, flow)[-15:]) / 15 for flow in ("f0", "f1")]
    jain = sum(rates) ** 2 / (2 * sum(rate**2 for rate in rates))
    assert jain > 0.95
    assert sum(rates) > 0.85 * LINK_MBPS
    # It heeds delay: the buffer of 3200 packets would be 800 ms.
    assert experiments.summary(*flows)["rtt_ms"]["p50"] < 30


def test_vivace_bears_random_loss_up_to_a_limit(experiments: Runs, steady: Path) -> None:
    """Its utility grows with the rate while less than 0.9 x^-0.1 / 11.35 is lost: 5.4 % at 48."""

    def mbps(cc: str, percent: int) -> float:
        lossy = ("--scenario", steady, "--loss", f"{percent}%", "--no-capture")
        return mean_mbps(experiments("--cc", cc, *lossy, "--duration", "20s"))

    assert mbps("vivace", 1) > 0.75 * LINK_MBPS
    assert mbps("vivace", 3) > 0.3 * LINK_MBPS  # 21 to 30 Mbit/s with the seeds 1 to 5
    assert mbps("vivace", 10) < 0.25 * LINK_MBPS
    assert mbps("cubic", 1) < 0.25 * LINK_MBPS


def test_r_of_verus_trades_delay_for_throughput(experiments: Runs) -> None:
    """R = 2, 4, 6 as in the Verus paper, here over 106 PRB."""
    link = ("--prb", 106, "--duration", "15s")
    chosen = [("--cc", "verus", "--cc-param", f"r={r}", *link) for r in (2, 4, 6)]
    delays_ms = [experiments.summary(*one)["rtt_ms"]["p50"] for one in chosen]
    received = [mean_mbps(experiments(*one)) for one in chosen]
    assert all(more > 1.2 * less for less, more in pairwise(delays_ms))
    assert all(more > less for less, more in pairwise(received))


@pytest.mark.parametrize(("scenario", "utilisation"), [("cellular-4g", 0.9), ("cellular-3g", 0.7)])
def test_what_sprouts_law_sends_arrives_within_100_ms(
    experiments: Runs, scenario: str, utilisation: float
) -> None:
    """95 % of the packets, by their RTT, which is more than the time to their arrival."""
    summary = experiments.summary("--cc", "sprout-law", "--scenario", scenario)
    assert summary["rtt_ms"]["p95"] <= 100
    assert summary["utilisation_ratio"] > utilisation


def test_flows_of_one_policy_may_begin_at_different_times(experiments: Runs) -> None:
    """The second flow's listener had freed the first one's place in the plane."""
    flows = ("--flows", "constant@0,constant@2", "--cc-param", "rate_mbps=5", "--duration", "6s")
    run = experiments(*flows)
    content = json_of(run / "run.json")
    assert content["cc_implementation"]["constant"]["plane"]["fallbacks"] == 0
    assert [mean_mbps(run, flow) for flow in ("f0", "f1")] == pytest.approx([5, 5], rel=0.05)


def test_after_a_timeout_the_window_grows_again(experiments: Runs, tmp_path: Path) -> None:
    """RFC 5681 section 3.1: in slow start, while losses are retransmitted."""
    outage = link(tmp_path, "{steps_mbps: [[0, 48], [5, 0], [8, 48]]}")
    path = ("--scenario", outage, "--buffer", "800pkt", "--rtt", "40ms", "--duration", "20s")
    # Reno's part of the window, without what the Guardian multiplies it by.
    alone = ("base=reno", "nde=off", "ps=off", "cm=off")
    parameters = [word for one in alone for word in ("--cc-param", one)]
    rates = rates_mbps(experiments("--cc", "guardian", *parameters, *path))
    reference = rates_mbps(experiments("--cc", "reno", *path))
    assert sum(rates[9:12]) > 0.6 * sum(reference[9:12])


def test_the_guardian_does_not_explore_in_recovery(experiments: Runs) -> None:
    """Over this link, slow start loses so much that recovery takes most of a second."""
    link = ("--scenario", "mmwave-walking", "--seed", "7", "--buffer", "800pkt")
    run = experiments("--cc", "guardian", *link, "--duration", "5s")
    with (run / "raw/cc-guardian.csv").open() as file:
        rows = list(csv.DictReader(file))
    in_recovery = [float(row["cwnd_packets"]) for row in rows if row["ca_state"] == "3"]
    assert len(in_recovery) > 100
    assert max(in_recovery) < 64e6 / 1448, "more than the sockets hold"


def test_flows_and_runs_draw_differently(experiments: Runs, steady: Path) -> None:
    def draws(seed: int, flow: int) -> list[float]:
        flows = ("--flows", "vivace@0,vivace@0", "--seed", str(seed))
        run = experiments(*flows, "--scenario", steady, "--duration", "5s")
        return [rate for _, rate in chosen_mbps(run, "vivace", str(5201 + flow))]

    assert draws(1, 0) != draws(1, 1)
    assert draws(1, 0) != draws(2, 0)


@pytest.mark.parametrize(
    ("scenario", "others"),
    [
        ("rome-moderate", ("reminis", "bbr", "vegas", "cubic", "orca", "sprout-law")),
        # ACKs wait behind cross traffic, so that they come late and say little of the data's queue.
        ("congested-reverse", ("bbr3", "cubic", "deepcc", "sprout-law")),
    ],
)
def test_no_other_has_more_at_the_oracles_delay(
    scenario: str, others: Sequence[str], kernel: Path
) -> None:
    """`python -m testsupport.oracle` compares all congestion controls over all scenarios.

    With fewer points of the oracle's, its front is lower: this asks for more.
    """
    length = ("--duration", "5s")
    waits = [f"delay_ms={ms}" for ms in (3, 10, 30)]
    front = oracles_front(scenario, ["share=0.9 delay_ms=0", *waits], *length)
    for cc in others:
        point = measured(scenario, "--cc", cc, *length)
        assert not is_above(point, front), (cc, point, front.mbps(point.owd_ms))


def test_no_other_has_more_than_an_oracle_that_waits_longer(experiments: Runs) -> None:
    """It knows what the link will carry; `delay_ms` says how long data may wait for it."""
    path = ("--scenario", "rome-moderate", "--prb", "51", "--rtt", "20ms", "--duration", "10s")

    def mbps_and_ms(*cc: str) -> tuple[float, float]:
        totals = experiments.summary("--cc", *cc, *path)
        return totals["throughput_bps"] / 1e6, totals["packet_owd_ms"]["mean"]

    front = [mbps_and_ms("oracle", "--cc-param", f"delay_ms={ms}") for ms in (3, 30)]
    for cc in ("reminis", "bbr", "vegas", "cubic"):
        mbps, owd_ms = mbps_and_ms(cc)
        above = [own for own in front if mbps > own[0] and owd_ms <= own[1]]
        assert not above, (cc, mbps, owd_ms, front)
