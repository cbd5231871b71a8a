# SPDX-License-Identifier: Apache-2.0
"""Feed-forward networks of learned policies: their files, and what they answer.

Only sums, products and comparisons: a network answers the same on every machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from operator import mul
from pathlib import Path
from typing import Any

from ccplane.problem import PolicyError

SCHEMA = "ccplane-network/1"
SHIPPED = Path(__file__).parent / "learned" / "weights"
_FIX = "give a file that cctraining.train wrote (docs/congestion-controls.md)"


class Network:
    """Layers of weights, ReLU between them; one number comes out."""

    def __init__(self, layers: Sequence[tuple[list[list[float]], list[float]]]) -> None:
        self._layers = layers

    def answer(self, values: Sequence[float]) -> float:
        """Return the network's output, within -1 and 1. Raises ValueError if it is not a number."""
        for number, (weights, biases) in enumerate(self._layers, 1):
            sums = [sum(map(mul, row, values), bias)
                    for row, bias in zip(weights, biases, strict=True)]  # fmt: skip
            values = sums if number == len(self._layers) else [max(one, 0.0) for one in sums]
        (found,) = values
        if math.isnan(found):
            raise ValueError("the network answers nan: its weights are of no use")
        return min(max(found, -1.0), 1.0)


def load(file: Path, agent: str, inputs: Sequence[str], history: int) -> Network:
    """Return the network in `file`, for an agent that sees `history` times `inputs`.

    The agent's name in place of a file is the network that is shipped. Raises PolicyError.
    """
    place = SHIPPED / f"{agent}.json" if file == Path(agent) else file
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{place}: cannot be read ({error.strerror})", _FIX) from None
    except ValueError as error:
        raise PolicyError(f"{place}: not JSON ({error})", _FIX) from None
    wanted = {"schema": SCHEMA, "agent": agent, "inputs": list(inputs), "history": history}
    for key, value in wanted.items():
        found = content.get(key) if isinstance(content, dict) else None
        if found != value:
            rule = f"{place}: not a network for {agent}: {key} is {found!r}, not {value!r}"
            raise PolicyError(rule, _FIX)
    try:
        return Network(_layers(content["layers"], history * len(inputs)))
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{place}: layers: {error or type(error).__name__}", _FIX) from None


def _layers(found: Any, width: int) -> list[tuple[list[list[float]], list[float]]]:
    layers = []
    for number, layer in enumerate(found, 1):
        weights, biases = layer["weights"], layer["biases"]
        if {len(row) for row in weights} != {width} or len(weights) != len(biases):
            raise ValueError(f"layer {number} does not fit {width} inputs and its biases")
        numbers = [*biases, *(one for row in weights for one in row)]
        if not all(type(one) in (int, float) and math.isfinite(one) for one in numbers):
            raise ValueError(f"layer {number} has a value that is not a finite number")
        layers.append((weights, biases))
        width = len(weights)
    if width != 1 or not layers:
        raise ValueError(f"{width} outputs in place of 1")
    return layers
