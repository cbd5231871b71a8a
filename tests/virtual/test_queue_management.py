# SPDX-License-Identifier: Apache-2.0
"""The effect of queue management on real TCP: a shorter queue, by drops or by marks."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from testsupport.runs import Runs

README = Path(__file__).parents[2] / "README.md"
LINK = ("--cc", "cubic", "--scenario", "constant-100M", "--rtt", "20ms", "--duration", "8s")
LINK = (*LINK, "--buffer", "1000pkt")


def queueing_ms(experiments: Runs, *aqm: str) -> float:
    """Mean time above the lowest RTT, after slow start."""
    table = experiments.table(*LINK, *aqm)
    rtt_ms = table[table["t_s"] > 3]["tcp_rtt_ms"]
    return float(rtt_ms.mean() - table["tcp_rtt_ms"].min())


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_a_managed_queue_is_short_and_the_link_is_used(experiments: Runs, aqm: str) -> None:
    """Near its target (CoDel 5 ms, RFC 8289; PIE 15 ms, RFC 8033), where drop-tail fills it."""
    managed, plain = queueing_ms(experiments, "--aqm", aqm), queueing_ms(experiments)
    assert managed < 25 < 60 < plain
    assert experiments.summary(*LINK, "--aqm", aqm)["utilisation_ratio"] > 0.85


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_with_ecn_it_marks_and_drops_nothing(experiments: Runs, aqm: str) -> None:
    arguments = (*LINK, "--aqm", aqm, "--ecn")
    table = experiments.table(*arguments)
    assert table["mac_dl_queue_mark_count"].sum() > 0
    late = table[table["t_s"] > 3]
    assert late["mac_dl_queue_drop_count"].sum() == 0
    assert late["tcp_retransmissions_count"].sum() == 0
    assert queueing_ms(experiments, "--aqm", aqm, "--ecn") < 25


def test_a_step_holds_dctcp_at_its_threshold_and_the_link_is_used(experiments: Runs) -> None:
    """CE above 1 ms of wait; DCTCP negotiates ECN by itself, so nothing is dropped.

    Its paper (SIGCOMM 2010, equation 13) asks for a threshold above a seventh of the round trip.
    """
    link = ("--cc", "dctcp", "--scenario", "constant-100M", "--rtt", "5ms", "--duration", "8s")
    link = (*link, "--aqm", "step")
    table = experiments.table(*link)
    late = table[table["t_s"] > 3]
    wait_ms = float(late["mac_dl_rlc_wait_ms"].mean())
    assert 0.4 < wait_ms < 3
    marked = late["mac_dl_queue_mark_count"].sum() / late["mac_dl_sdu_count"].sum()
    assert 0.001 < marked < 0.5
    assert late["mac_dl_queue_drop_count"].sum() == 0
    assert experiments.summary(*link)["utilisation_ratio"] > 0.85


def test_dctcp_reaches_what_the_readme_says(experiments: Runs) -> None:
    said = re.search(
        r"^ccu run (--cc dctcp .*?) *# .*: (\d+) Mbit/s, (\d+) % .*RTT (\d+) ms$",
        README.read_text(),
        re.MULTILINE,
    )
    assert said
    summary = experiments.summary(*shlex.split(said[1]))
    assert round(summary["goodput_bps"] / 1e6) == int(said[2])
    assert round(summary["utilisation_ratio"] * 100) == int(said[3])
    assert round(summary["rtt_ms"]["p50"]) == int(said[4])
