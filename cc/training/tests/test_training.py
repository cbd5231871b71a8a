# SPDX-License-Identifier: Apache-2.0
"""The environments of training follow the interface and the laws that they are written for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ccplane.cubic import Cubic
from cctraining import links
from cctraining.agents import AGENTS
from cctraining.episodes import INTERVALS, Episodes
from cctraining.flows import STEPS, Flows
from cctraining.links import PACKET_BITS, STEP_S, Links

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (make build)")


def one_link(steps: int = 5010) -> Links:
    """A link of 12 Mbit/s, 40 ms and 100 packets, without anything random."""
    return Links(
        capacity=np.full((1, steps), 12e6 / PACKET_BITS * STEP_S),
        delay_steps=np.full(1, round(0.04 / STEP_S)),
        buffer=np.full(1, 100.0),
        loss=np.zeros(1),
        burst_steps=np.ones(1, dtype=np.int64),
        hold_chance=np.zeros(1),
        hold_steps=np.zeros(1, dtype=np.int64),
        target_s=np.full(1, 0.1),
    )


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_the_environment_is_one_of_gymnasium(agent: str) -> None:
    from gymnasium.utils.env_checker import check_env

    from cctraining.environment import CongestionEnvironment

    check_env(CongestionEnvironment(agent), skip_render_check=True)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_what_agents_see_is_finite_and_within_the_space(agent: str) -> None:
    episodes = Episodes(agent, 64, np.random.default_rng(3))
    episodes.passed[:] = INTERVALS - 50
    for _ in range(60):  # into the second episodes
        rewards, _, last = episodes.step(episodes._random.uniform(-1, 1, 64))
        assert np.isfinite(rewards).all()
        assert (abs(last) <= 10).all()


@pytest.fixture
def full() -> tuple[Flows, float]:
    """A flow of CUBIC after 15 s, and the packets that passed in the last 10 s."""
    flows, random = Flows(one_link(steps=8_000)), np.random.default_rng(1)
    for _ in range(250):
        flows.pass_interval(random)
    before = flows.departures[0]
    for _ in range(500):
        flows.pass_interval(random)
    return flows, flows.departures[0] - before


def test_the_model_keeps_packets_and_fills_its_link(full: tuple[Flows, float]) -> None:
    flows, passed = full
    capacity = 12e6 / PACKET_BITS * 10
    assert 0.97 * capacity < passed <= capacity * 1.0001
    queue = flows.arrivals - flows.departures
    assert 0 <= queue[0] <= 101
    assert flows.drops[0] > 0
    # Packets are in the queue, on their way, or were counted as acknowledged or lost.
    sent = flows.arrivals[0] + flows.drops[0]
    accounted = sent - flows.inflight[0]
    assert accounted <= flows.departures[0] + flows.known_drops[0] + 1e-6


def test_the_models_rtt_is_that_of_a_full_window() -> None:
    """Little's law: a window of 60 over 12 Mbit/s (1000 packets/s) and 40 ms is an RTT of 60 ms."""
    flows, random = Flows(one_link()), np.random.default_rng(1)
    for _ in range(100):
        flows.cwnd[:] = flows.ssthresh[:] = 60.0
        flows.cap[:] = 60.0
        interval, _ = flows.pass_interval(random)
    assert interval.rtt_s[0] == pytest.approx(0.060, abs=2 * STEP_S)
    assert interval.acked[0] / interval.elapsed_s[0] == pytest.approx(1000, rel=0.02)


def test_both_cubics_are_one() -> None:
    """The window of `ccplane.cubic`, ACK by ACK, is that of the model after a loss."""
    flows, cubic = Flows(one_link()), Cubic()
    flows.cwnd[:], cubic.cwnd = 100.0, 100.0
    flows.least_rtt_s[:] = 0.04
    flows._lose(np.array([True]))
    cubic.lose()
    for step in range(6000):
        flows._at = step
        flows._grow(np.array([2.0]))
        cubic.grow(2.0, step * STEP_S, 0.04)
        assert flows.cwnd[0] == pytest.approx(cubic.cwnd)
    # RFC 9438: back at the window of the loss after K, then beyond it.
    assert cubic.cwnd > 100
    k_s = (100 * (1 - 717 / 1024) / 0.4) ** (1 / 3)
    assert math.isclose(k_s, flows.k_s[0], rel_tol=1e-9)


def test_links_are_drawn_by_seed() -> None:
    """Two generators of one seed draw the same links, of different kinds."""
    steps = (INTERVALS + 1) * STEPS
    first, second = (links.draw(50, steps, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first.capacity, second.capacity)
    constant = first.capacity.std(axis=1) < 1e-9
    assert constant.any()
    assert not constant.all()
    mbps = first.capacity[constant, 0] / STEP_S * PACKET_BITS / 1e6
    assert (mbps >= links.LEAST_MBPS).all()
    assert (mbps <= links.MOST_MBPS).all()
