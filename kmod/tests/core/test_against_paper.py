# SPDX-License-Identifier: GPL-2.0-only
"""Compare the core with the paper's equations in floating point, on random RTT sequences."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from hypothesis import given, settings
from hypothesis import strategies as st

from ..core_binding import (
    ACTIONS,
    CM_DRAIN,
    MEAN_BASE,
    NDE_BOUNDED,
    NEW_PATH,
    ONE_Q24,
    STALE_RTT,
    Flow,
    params,
)
from ..paper import Additions, Paper, Verdict

# The errors that docs/reminis.md states, for one action from the same window:
CUT_RELATIVE_ERROR = 5e-6  # 2^x by table
NDE_RELATIVE_ERROR = 6e-5  # and the draw by table: 2.0e-4 of z by sigma 1.42, S' 1/4, ln 2
SEGMENT_ERROR = 2**-15  # the fraction of a segment that is kept
FACTOR_ERROR = 2**-30  # of the previous window: a factor is in Q30, which matters for large cuts
MU_ERROR_PER_INTERVAL = 2**-24  # ∇d is rounded to Q24


@dataclass
class Interval:
    samples_us: list[int]
    late_us: int  # time from mRTT to the ACK that ends the SI
    word: int


def intervals(max_rtt_us: int) -> st.SearchStrategy[list[Interval]]:
    rtt = st.one_of(st.integers(1, max_rtt_us), st.integers(19_000, 45_000))
    one = st.builds(
        Interval,
        st.lists(rtt, min_size=2, max_size=8),
        st.one_of(st.just(0), st.integers(0, 50_000)),
        st.integers(0, 2**32 - 1),
    )
    return st.lists(one, min_size=1, max_size=40)


def play(flow: Flow, paper: Paper, interval: Interval, now_us: int) -> tuple[int, int, list[int]]:
    """Feed the samples of one SI to both; return its start, its end and the samples that count."""
    start_us = flow.state.si_start_us if flow.state.min_rtt_us else now_us
    *earlier_us, last_us = interval.samples_us
    counted_us = [us for us in earlier_us if paper.is_fresh(start_us - us)]
    for rtt_us in earlier_us:
        paper.sample(rtt_us)
        assert not flow.ack(start_us, rtt_us)  # all at the start of the SI: too early to end it
    paper.sample(last_us)
    end_us = start_us + paper.min_rtt_us + interval.late_us
    if not paper.is_fresh(end_us - max(last_us, 1)):
        assert not flow.ack(end_us, last_us)
        start_us, end_us = end_us, max(end_us + paper.min_rtt_us, (paper.cut_us or 0) + last_us)
    assert flow.ack(end_us, last_us)
    return start_us, end_us, [*counted_us, last_us]


def draw_error(mu: float, mu_error: float) -> float:
    """Return the error of x = μ + z sqrt(|μ|)/2, |z| < 6.4, for an error of μ; steep near 0."""
    root_error = min(sqrt(mu_error), mu_error / sqrt(abs(mu)) if mu else 1.0)
    return mu_error + 3.2 * root_error


def check_window(v: Verdict, before: float, after: float, mu_error: float) -> None:
    if v.action == "none":
        assert after == before
        return
    relative = CUT_RELATIVE_ERROR
    if v.action == "nde":
        relative = NDE_RELATIVE_ERROR + draw_error(v.mu, mu_error) * log(2) / 4
    expected = before * v.factor
    if v.action != "nde":
        expected = max(expected, min(4, int(before)))
    assert abs(after - expected) <= expected * relative + SEGMENT_ERROR + before * FACTOR_ERROR


def fraction(flow: Flow) -> float:
    return float(flow.state.cwnd_fraction_q16) / 65536


def check_decisions(
    steps: list[Interval], flow: Flow, paper: Paper, cwnd: int, *, stale: bool = False
) -> None:
    now_us = 1_000_000_000  # later than the longest RTT
    for n, step in enumerate(steps, start=1):
        before = cwnd + fraction(flow)
        start_us, now_us, counted_us = play(flow, paper, step, now_us)
        least_us = paper.min_rtt_us
        v = paper.decide(counted_us, now_us - start_us, step.word, cwnd)
        d = flow.guard(now_us, cwnd, random=step.word)
        assert (d.zone, d.delay_us, d.dtt_us) == (v.zone, v.delay_us, v.dtt_us)
        assert (d.min_rtt_us, d.base_us) == (least_us, paper.anchor_us)
        assert flow.state.min_rtt_us == paper.min_rtt_us
        mu_error = n * MU_ERROR_PER_INTERVAL
        assert abs(d.mu_q24 / ONE_Q24 - v.mu) <= mu_error
        if v.zone == 2 and abs(v.excess_us) < 0.1:
            v.action = ACTIONS[d.action]  # closer to DTT than the resolution of the clock
        assert ACTIONS[d.action] == v.action
        if v.action in ("ps", "cm") and not stale:
            paper.cut_us = now_us
        check_window(v, before, d.cwnd_after + fraction(flow), mu_error)
        cwnd = min(max(d.cwnd_after, 1), 2**26)
        if cwnd != d.cwnd_after:
            flow.state.cwnd_fraction_q16 = 0


def switches_of(additions: Additions) -> int:
    switches = MEAN_BASE if additions.mean_base else 0
    switches |= NDE_BOUNDED if additions.nde_bounded else 0
    switches |= CM_DRAIN if additions.cm_drain else 0
    return switches | (NEW_PATH if additions.new_path else 0)


@settings(max_examples=400, deadline=None)
@given(
    intervals(100_000_000),
    st.one_of(st.just(0), st.integers(1, 10_000_000), st.just(40_000)),
    st.integers(4, 2**24),
    st.booleans(),
    st.one_of(st.just(Additions()), st.builds(Additions, *[st.booleans()] * 4)),
)
def test_every_decision_is_the_papers(
    steps: list[Interval], dtt_us: int, cwnd: int, stale: bool, additions: Additions
) -> None:
    switches = switches_of(additions) | (STALE_RTT if stale else 0)
    paper = Paper(dtt_us, additions=additions)
    check_decisions(steps, Flow(params(dtt_us, switches=switches)), paper, cwnd, stale=stale)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(5_000, 200_000),
    st.integers(2, 5),
    st.lists(st.floats(1, 1.2), min_size=22, max_size=22),
    st.integers(4, 1000),
    st.builds(Additions, *[st.booleans()] * 3, st.just(True)),
)
def test_every_decision_on_a_longer_path_is_the_papers(
    path_us: int, times: int, spread: list[float], cwnd: int, additions: Additions
) -> None:
    """Cuts take 1000 segments to 8 in 7 SIs at most; 8 more show the path, and 5 are left."""
    rtts_us = [path_us, path_us, *(round(times * path_us * one) for one in spread[2:])]
    steps = [Interval([rtt_us, rtt_us], 0, n * 2**27) for n, rtt_us in enumerate(rtts_us)]
    flow = Flow(params(switches=switches_of(additions)))
    check_decisions(steps, flow, Paper(additions=additions), cwnd)
    assert flow.state.min_rtt_us >= times * path_us


@given(st.integers(1, 10_000_000), st.integers(1, 100_000_000))
def test_a_given_dtt_stays_above_mrtt(dtt_us: int, mrtt_us: int) -> None:
    flow = Flow(params(dtt_us))
    flow.ack(0, mrtt_us)
    flow.ack(mrtt_us, mrtt_us)
    in_force_us = flow.guard(mrtt_us, 10).dtt_us
    assert in_force_us == max(dtt_us, mrtt_us + max(mrtt_us // 8, 1000))


def test_a_flows_own_dtt_comes_before_the_machines() -> None:
    flow = Flow(params(40_000))
    flow.state.dtt_us = 60_000
    flow.ack(0, 20_000)
    flow.ack(20_000, 20_000)
    assert flow.guard(20_000, 10).dtt_us == 60_000
