# SPDX-License-Identifier: Apache-2.0
"""Episodes of many flows at once, each on a link of its own: what all interfaces are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ccplane.learned.interval import HISTORY
from cctraining.agents import AGENTS
from cctraining.flows import STEPS, Flows, Rows
from cctraining.links import Array, Links

INTERVALS = 500
"""Decisions of an episode: 10 s."""
Draw = Callable[[int, int, np.random.Generator], Links]


class Episodes:
    """`count` flows of an agent. One that ends begins again, on another link of `draw`."""

    def __init__(
        self, agent: str, count: int, random: np.random.Generator, draw: Draw | None = None
    ) -> None:
        self.agent, self.count = AGENTS[agent], count
        self._random, self._draw = random, draw or self.agent.draw
        self._steps = (INTERVALS + 1) * STEPS
        self.flows = Flows(self._draw(count, self._steps, random))
        self.width = HISTORY * len(self.agent.inputs)
        self._seen = np.zeros((count, HISTORY, len(self.agent.inputs)))
        self.passed = np.zeros(count, dtype=np.int64)
        self._may_act = np.zeros(count, dtype=bool)
        self._observe()

    def stagger(self) -> None:
        """Let the first episodes end at different times, so that a batch has all parts of them."""
        self.passed = self._random.integers(0, INTERVALS, self.count)

    def observations(self) -> Array:
        seen: Array = self._seen.reshape(self.count, -1).copy()
        return seen

    def step(self, actions: Array) -> tuple[Array, Rows, Array]:
        """Pass an interval; return rewards, which episodes ended, and their last observations."""
        self.agent.act(np.clip(actions, -1.0, 1.0), self.flows, self._may_act)
        rewards = self._observe()
        self.passed += 1
        ended = self.passed >= INTERVALS
        last = self.observations()
        self.last_hidden = self.flows.hidden()
        if ended.any():
            self._begin(ended)
        return rewards, ended, last

    def _begin(self, rows: Rows) -> None:
        self.flows.begin(rows, self._draw(int(rows.sum()), self._steps, self._random))
        self._seen[rows] = 0.0
        self.passed[rows] = 0
        self._may_act[rows] = False

    def _observe(self) -> Array:
        """Pass an interval; take what its ACKs say where there are any, and reward that."""
        interval, ended = self.flows.pass_interval(self._random)
        states = np.stack(self.agent.state(interval, self.flows), axis=1)
        shifted = np.concatenate([self._seen[:, 1:], states[:, None]], axis=1)
        self._seen = np.where(ended[:, None, None], shifted, self._seen)
        self._may_act = ended
        rewards = self.agent.reward(interval, self.flows)
        earned: Array = np.where(ended, rewards, 0.0)
        return earned
