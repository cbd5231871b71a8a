# SPDX-License-Identifier: Apache-2.0
"""Trains an agent by PPO of Stable-Baselines3, and writes its network for ccplane.

`python -m cctraining.train AGENT [--seed N] [--steps N] [--output FILE]`. The same versions, seed
and options give the same weights; one core is used.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from ccplane.learned.interval import HISTORY
from ccplane.network import SCHEMA, SHIPPED
from cctraining.agents import AGENTS
from cctraining.episodes import INTERVALS, Episodes
from cctraining.networks import Policy

FLOWS = 256
REWARD_SCALE = 0.1  # returns of about 1, which the value network learns sooner
EVALUATION_SEED, EVALUATED = 1_000_000, 256
PACKAGES = ("stable-baselines3", "torch", "gymnasium", "numpy")


class Flows(VecEnv):
    """`Episodes` as Stable-Baselines3 has them: what the agent sees, then what only the critic
    sees."""

    def __init__(self, agent: str, seed: int) -> None:
        self.episodes = Episodes(agent, FLOWS, np.random.default_rng(seed))
        self.episodes.stagger()
        self.shape = AGENTS[agent].shape
        width = self.reset().shape[1]
        space = gymnasium.spaces.Box(-np.inf, np.inf, (width,), np.float32)
        super().__init__(FLOWS, space, gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32))

    def reset(self) -> Any:
        return self._both(self.episodes.observations(), self.episodes.flows.hidden())

    @staticmethod
    def _both(seen: Any, hidden: Any) -> Any:
        return np.concatenate([seen, hidden], axis=1).astype(np.float32)

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        rewards, ended, last = self.episodes.step(self._actions[:, 0].astype(np.float64))
        last = self._both(last, self.episodes.last_hidden)
        infos: list[dict[str, Any]] = [{} for _ in range(FLOWS)]
        for row in np.flatnonzero(ended):
            infos[row] = {"terminal_observation": last[row],
                          "TimeLimit.truncated": True}  # fmt: skip
        return self.reset(), (REWARD_SCALE * self.shape(rewards)).astype(np.float32), ended, infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> Any:  # noqa: ARG002
        return [None] * FLOWS

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> Any:  # noqa: ARG002
        return [False] * FLOWS


def evaluate(agent: str, answer: Any) -> float:
    """Return the mean reward on links of their own, with `answer` from observations to actions."""
    episodes = Episodes(agent, EVALUATED, np.random.default_rng(EVALUATION_SEED))
    total = 0.0
    for _ in range(INTERVALS):
        rewards, _, _ = episodes.step(answer(episodes.observations()))
        total += float(rewards.mean())
    return total / INTERVALS


class _Curve(BaseCallback):
    """Evaluates now and then."""

    def __init__(self, agent: str, each_steps: int) -> None:
        super().__init__()
        self._agent, self._each, self._next = agent, each_steps, 0
        self.points: list[tuple[int, float]] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self.look()
            self._next += self._each

    def look(self) -> None:
        reward = evaluate(self._agent, lambda seen: mean_actions(self.model, seen))
        self.points.append((self.num_timesteps, round(reward, 4)))
        print(f"{self._agent}: {self.num_timesteps} steps, mean reward {reward:.4f}", flush=True)


def mean_actions(model: PPO, seen: Any) -> Any:
    policy = model.policy
    with torch.no_grad():
        inner = policy.mlp_extractor.policy_net(torch.as_tensor(seen, dtype=torch.float32))
        return np.clip(policy.action_net(inner)[:, 0].numpy().astype(np.float64), -1.0, 1.0)


def train(agent: str, seed: int, steps: int) -> dict[str, Any]:
    """Return the content of a network's file."""
    torch.set_num_threads(1)
    flows = Flows(agent, seed)
    model = PPO(
        Policy,
        flows,
        seed=seed,
        n_steps=64,
        batch_size=4096,
        n_epochs=6,
        gamma=0.99,
        gae_lambda=0.95,
        learning_rate=lambda left: 1e-3 * left,
        policy_kwargs={"seen": flows.episodes.width, "log_std_init": -1.5},
        device="cpu",
    )
    idle = evaluate(agent, lambda seen: np.full(len(seen), AGENTS[agent].idle))
    print(f"{agent}: mean reward {idle:.4f} without an agent", flush=True)
    curve = _Curve(agent, steps // 20)
    model.learn(steps, callback=curve)
    curve.look()
    return {
        "schema": SCHEMA,
        "agent": agent,
        "inputs": list(AGENTS[agent].inputs),
        "history": HISTORY,
        "made": {
            "command": f"python -m cctraining.train {agent} --seed {seed} --steps {steps}",
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
            "mean_reward_without_agent": round(idle, 4),
            "mean_reward_by_steps": curve.points,
        },
        "layers": _layers(model),
    }


def _layers(model: PPO) -> list[dict[str, Any]]:
    extractor = model.policy.mlp_extractor.policy_net
    linear = [one for one in extractor if isinstance(one, torch.nn.Linear)]
    return [
        {
            "weights": [[float(f"{one:.7g}") for one in row] for row in layer.weight.tolist()],
            "biases": [float(f"{one:.7g}") for one in layer.bias.tolist()],
        }
        for layer in (*linear, model.policy.action_net)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="cctraining.train", description=__doc__)
    parser.add_argument("agent", choices=sorted(AGENTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--steps", type=int, help="decisions (default: those of the shipped weights)"
    )
    parser.add_argument("--output", type=Path, help="(default: the file that is shipped)")
    given = parser.parse_args()
    output = given.output or SHIPPED / f"{given.agent}.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    content = train(given.agent, given.seed, given.steps or AGENTS[given.agent].steps)
    output.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print(output)


if __name__ == "__main__":
    main()
