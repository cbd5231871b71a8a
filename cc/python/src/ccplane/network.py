# SPDX-License-Identifier: Apache-2.0
"""Feed-forward networks of learned policies: their files, and what they answer.

Sums, products and comparisons in one order: a network answers the same on every machine, with NumPy
and without. Only tanh, which networks of others have at their output, is the C library's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ccplane.problem import PolicyError

SCHEMA = "ccplane-network/1"
SHIPPED = Path(__file__).parent / "learned" / "weights"
OWN = "own"
"""The state of files that name none."""
CUT, TANH = "cut", "tanh"
_OUTPUTS: Mapping[str, Callable[[float], float]] = {
    CUT: lambda output: min(max(output, -1.0), 1.0),
    TANH: math.tanh,
}
_FIX = (
    "give a file that cctraining.train or cctraining.published wrote (docs/congestion-controls.md)"
)
_MANY_WEIGHTS = 10_000  # From here on NumPy is worth its import: 0.1 s.

Layer = tuple[list[list[float]], list[float]]
"""Weights, a row for each output, and biases."""


@dataclass(frozen=True)
class State:
    """The input of an agent: `history` times `inputs`, the oldest first."""

    inputs: tuple[str, ...]
    history: int


class Network:
    """Layers of weights with a (leaky) ReLU between them; one number comes out."""

    def __init__(
        self, layers: Sequence[Layer], leak: float = 0.0, output: str = CUT, state: str = OWN
    ) -> None:
        self.state = state
        self._leak, self._output = leak, _OUTPUTS[output]
        many = sum(len(biases) * len(rows[0]) for rows, biases in layers) >= _MANY_WEIGHTS
        kind = _with_numpy(layers) if many else None
        self._layers = kind or [_Plain(*layer) for layer in layers]

    def answer(self, values: Sequence[float]) -> float:
        """Return the network's output, within -1 and 1. Raises ValueError if it is not a number."""
        for number, layer in enumerate(self._layers, 1):
            sums = layer.sums(values)
            last = number == len(self._layers)
            values = sums if last else self._relu(sums)
        (output,) = values
        if math.isnan(output):
            raise ValueError("the network answers nan: its weights are of no use")
        return self._output(output)

    def _relu(self, sums: Sequence[float]) -> list[float]:
        if not self._leak:
            return [max(one, 0.0) for one in sums]
        return [max(one, self._leak * one) for one in sums]


class _Plain:
    """A layer in Python alone."""

    def __init__(self, weights: list[list[float]], biases: list[float]) -> None:
        self._columns, self._biases = list(zip(*weights, strict=True)), biases

    def sums(self, values: Sequence[float]) -> list[float]:
        totals = self._biases
        # Not `sum`, which rounds otherwise from Python 3.12 on.
        for column, value in zip(self._columns, values, strict=True):
            totals = [one + weight * value for one, weight in zip(totals, column, strict=True)]
        return totals


def _with_numpy(layers: Sequence[Layer]) -> list[Any] | None:
    try:
        import numpy as np
    except ImportError:
        return None

    class Arrays:
        """A layer in NumPy: products, then their sums row by row, as `_Plain` has them."""

        def __init__(self, weights: list[list[float]], biases: list[float]) -> None:
            columns = np.array(weights, dtype=np.float64).T
            self._columns = np.vstack([np.array(biases, dtype=np.float64), columns])
            self._products = np.empty_like(self._columns)
            self._values = np.ones((len(columns) + 1, 1))

        def sums(self, values: Sequence[float]) -> list[float]:
            self._values[1:, 0] = values
            np.multiply(self._columns, self._values, out=self._products)
            # Not `sum`, which adds in pairs where there is one output.
            np.add.accumulate(self._products, axis=0, out=self._products)
            totals: list[float] = self._products[-1].tolist()
            return totals

    return [Arrays(*layer) for layer in layers]


def load(
    file: Path,
    agent: str,
    inputs: Sequence[str],
    history: int,
    others: Mapping[str, State] = MappingProxyType({}),
) -> Network:
    """Return the network in `file`, for an agent that sees `history` times `inputs`, or one of the
    `others`, which the file then names.

    The agent's name in place of a file is the network that is shipped. Raises PolicyError.
    """
    place = SHIPPED / f"{agent}.json" if file == Path(agent) else file
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{place}: cannot be read ({error.strerror})", _FIX) from None
    except ValueError as error:
        raise PolicyError(f"{place}: not JSON ({error})", _FIX) from None
    content = content if isinstance(content, dict) else {}
    _expect(place, agent, {"schema": SCHEMA, "agent": agent}, content)
    name = _one_of(place, "state", content.get("state", OWN), [OWN, *others])
    state = others.get(name, State(tuple(inputs), history))
    _expect(place, agent, {"inputs": list(state.inputs), "history": state.history}, content)
    output = _one_of(place, "output", content.get("output", CUT), list(_OUTPUTS))
    leak = content.get("leak", 0.0)
    if type(leak) not in (int, float) or not 0 <= leak <= 1:
        raise PolicyError(f"{place}: leak is {leak!r}, not a number from 0 to 1", _FIX)
    try:
        layers = _layers(content["layers"], state.history * len(state.inputs))
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{place}: layers: {error or type(error).__name__}", _FIX) from None
    return Network(layers, leak, output, name)


def _expect(place: Path, agent: str, wanted: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    for key, value in wanted.items():
        if (written := content.get(key)) != value:
            rule = f"{place}: not a network for {agent}: {key} is {written!r}, not {value!r}"
            raise PolicyError(rule, _FIX)


def _one_of(place: Path, key: str, written: Any, allowed: list[str]) -> str:
    if written not in allowed:
        raise PolicyError(
            f"{place}: {key} is {written!r}, not {' or '.join(map(repr, allowed))}", _FIX
        )
    return str(written)


def _layers(written: Any, width: int) -> list[Layer]:
    layers = []
    for number, layer in enumerate(written, 1):
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
