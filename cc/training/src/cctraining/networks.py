# SPDX-License-Identifier: Apache-2.0
"""The networks of training, for Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.policies import ActorCriticPolicy

HIDDEN, CRITIC = (64, 32), (64, 64)


class _Networks(torch.nn.Module):
    """The agent's network up to its last layer, and the critic's, which sees the link as well."""

    def __init__(self, seen: int, all_inputs: int) -> None:
        super().__init__()
        self._seen = seen
        self.policy_net = _stack(seen, HIDDEN)
        self.value_net = _stack(all_inputs, CRITIC)
        self.latent_dim_pi, self.latent_dim_vf = HIDDEN[-1], CRITIC[-1]

    def forward(self, both: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(both), self.forward_critic(both)

    def forward_actor(self, both: torch.Tensor) -> torch.Tensor:
        return self.policy_net(both[:, : self._seen])

    def forward_critic(self, both: torch.Tensor) -> torch.Tensor:
        return self.value_net(both)


def _stack(inputs: int, widths: tuple[int, ...]) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for width in widths:
        layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
        inputs = width
    return torch.nn.Sequential(*layers)


class Policy(ActorCriticPolicy):
    """Its critic sees more than its actor: the link makes returns predictable."""

    def __init__(self, *args: Any, seen: int, **kwargs: Any) -> None:
        self._seen = seen
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Networks(self._seen, self.features_dim)
