# SPDX-License-Identifier: Apache-2.0
"""The agents that can be trained: what each sees, gets and does to a flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ccplane.learned import deepcc, orca
from ccplane.learned.interval import Interval
from cctraining import links
from cctraining.flows import Flows, Rows
from cctraining.links import STEP_S, Array, Links

_LEAST_REWARD = 0.02


@dataclass(frozen=True)
class Agent:
    inputs: Sequence[str]
    state: Callable[[Interval, Flows], tuple[Array, ...]]
    reward: Callable[[Interval, Flows], Array]
    act: Callable[[Array, Flows, Rows], None]
    """Does what the actions say to the flows at those rows."""
    draw: Callable[[int, int, np.random.Generator], Links]
    """Draws the links of its training."""
    steps: int
    """Decisions of its training."""
    idle: float
    """The action that leaves the flow to the congestion control below."""
    shape: Callable[[Array], Array]
    """The conversion of the paper's reward to what training maximises."""


def _logarithm(rewards: Array) -> Array:
    """Have a flow with a tenth of its link gain as much by 1 % more as one that has all of it."""
    shaped: Array = np.log(np.maximum(rewards, _LEAST_REWARD))
    return shaped


def _of_link(interval: Interval, flows: Flows) -> Interval:
    """Have rewards compare with the link's mean capacity: a flow that never sent faster than it
    does has the highest throughput that it has seen."""
    capacity = flows.links.capacity.mean(axis=1) / STEP_S
    return interval._replace(highest_per_s=capacity)


def _act_orca(actions: Array, flows: Flows, rows: Rows) -> None:
    changed = orca.window(flows.cwnd, actions, np.minimum, np.maximum)
    lower = rows & (changed < flows.cwnd)
    flows.cwnd = np.where(rows, changed, flows.cwnd)
    flows.ssthresh = np.where(lower, np.minimum(flows.ssthresh, changed), flows.ssthresh)
    flows.epoch = np.where(lower, np.nan, flows.epoch)


def _act_deepcc(actions: Array, flows: Flows, rows: Rows) -> None:
    flows.cap = np.where(rows, deepcc.cap(flows.cwnd, actions, np.maximum), flows.cap)


AGENTS = {
    orca.AGENT: Agent(
        orca.INPUTS,
        lambda interval, _: orca.state(interval, np.minimum),
        lambda interval, flows: orca.reward(_of_link(interval, flows), np.minimum),
        _act_orca,
        links.draw,
        1_200_000,
        idle=0.0,
        shape=_logarithm,
    ),
    deepcc.AGENT: Agent(
        deepcc.INPUTS,
        lambda interval, flows: deepcc.state(interval, flows.links.target_s, np.minimum),
        lambda interval, flows: deepcc.reward(
            _of_link(interval, flows), flows.links.target_s, np.minimum
        ),
        _act_deepcc,
        partial(links.draw, most_hold_chance=0.1, hold_steps=(2, 6)),
        1_500_000,
        idle=1.0,
        shape=lambda rewards: rewards,
    ),
}
