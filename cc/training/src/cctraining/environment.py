# SPDX-License-Identifier: Apache-2.0
"""An environment of the Gymnasium interface: one flow on a random link."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cctraining.episodes import Draw, Episodes

Observation = NDArray[np.float32]


class CongestionEnvironment(gymnasium.Env[Observation, NDArray[np.float32]]):
    """The action, -1 to 1, holds for 20 ms. Episodes of 10 s are cut off (`truncated`)."""

    def __init__(self, agent: str = "orca", draw: Draw | None = None) -> None:
        self._agent, self._draw = agent, draw
        width = Episodes(agent, 1, np.random.default_rng(0)).width
        self.observation_space = gymnasium.spaces.Box(-10.0, 10.0, (width,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._episodes = Episodes(self._agent, 1, self.np_random, self._draw)
        return self._episodes.observations()[0].astype(np.float32), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        rewards, ended, last = self._episodes.step(np.asarray(action, dtype=np.float64))
        return last[0].astype(np.float32), float(rewards[0]), False, bool(ended[0]), {}
