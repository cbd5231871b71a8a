# SPDX-License-Identifier: Apache-2.0
"""Writes the weights that Orca's authors published as a file for ccplane.

`python -m cctraining.published orca CHECKPOINT OUTPUT`. CHECKPOINT is TensorFlow's: the common
beginning of the names of its files (`models/model.ckpt-1283529`). TensorFlow reads it, and has to
be installed for this command alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ccplane.learned import orca, orca_published
from ccplane.network import SCHEMA, TANH

Array = npt.NDArray[np.float64]

LEAK = 0.2
"""The slope of the leaky ReLU below 0: TensorFlow's default."""
EPSILON = 0.001
"""The epsilon of the batch normalisation: TensorFlow's default."""
HIDDEN = (("fc1", "batch_normalization"), ("fc2", "batch_normalization_1"))
LAST = "dense"
"""The variables of the agent's network, below `actor/`."""
_WHICH = "Name the checkpoint of models/ in the authors' repository (Soheil-ab/Orca)"


class CheckpointError(Exception):
    """A checkpoint that cannot be read: what is wrong, and a fix."""

    def __init__(self, rule: str, fix: str) -> None:
        super().__init__(f"{rule}. {fix}")


def read(checkpoint: Path) -> Mapping[str, Array]:
    """Return the variables of the agent's network. Raises CheckpointError."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if not checkpoint.with_name(f"{checkpoint.name}.index").is_file():
        raise CheckpointError(
            f"{checkpoint}: no checkpoint: there is no {checkpoint.name}.index",
            "Name it without the end of its files (models/model.ckpt-1283529)",
        )
    try:
        import tensorflow
    except ImportError:
        raise CheckpointError(
            "TensorFlow is not installed, which reads the checkpoint",
            "Use a Python that has it: pip install tensorflow-cpu (docs/congestion-controls.md)",
        ) from None
    try:
        reader = tensorflow.train.load_checkpoint(str(checkpoint))
        names = [name for name in reader.get_variable_to_shape_map() if name.startswith("actor/")]
        return {name: np.asarray(reader.get_tensor(name), dtype=np.float64) for name in names}
    except (ValueError, RuntimeError, tensorflow.errors.OpError) as error:
        said = str(error).splitlines()[0]
        raise CheckpointError(
            f"{checkpoint}: TensorFlow cannot read it: {said}", "Get its files again"
        ) from None


def fold(
    kernel: Array, bias: Array, mean: Array, variance: Array, beta: Array
) -> tuple[Array, Array]:
    """Return kernel and bias of the dense layer that does what this one and the batch normalisation
    after it do (without scale): (x kernel + bias - mean) / sqrt(variance + EPSILON) + beta.

    The kernel is inputs x outputs, the others are outputs.
    """
    factor = 1 / np.sqrt(variance + EPSILON)
    return kernel * factor, (bias - mean) * factor + beta


def content(variables: Mapping[str, Array], made: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a network's file. Raises CheckpointError."""
    width = orca_published.SEEN.history * len(orca_published.SEEN.inputs)
    layers = []
    for dense, normalisation in HIDDEN:
        kernel, bias = _dense(variables, dense, width)
        width = len(bias)
        names = ("moving_mean", "moving_variance", "beta")
        normal = [_tensor(variables, f"{normalisation}/{one}", (width,)) for one in names]
        layers.append(fold(kernel, bias, *normal))
    layers.append(_dense(variables, LAST, width))
    if len(layers[-1][1]) != 1:
        raise CheckpointError(f"actor/{LAST} has more outputs than one", _WHICH)
    return {
        "schema": SCHEMA,
        "agent": orca.AGENT,
        "state": orca_published.NAME,
        "inputs": list(orca_published.SEEN.inputs),
        "history": orca_published.SEEN.history,
        "leak": LEAK,
        "output": TANH,
        "made": dict(made),
        "layers": [
            {
                "weights": [[float(f"{one:.9g}") for one in row] for row in kernel.T.tolist()],
                "biases": [float(f"{one:.9g}") for one in bias.tolist()],
            }
            for kernel, bias in layers
        ],
    }


def _dense(variables: Mapping[str, Array], name: str, inputs: int) -> tuple[Array, Array]:
    bias = _tensor(variables, f"{name}/bias", (None,))
    return _tensor(variables, f"{name}/kernel", (inputs, len(bias))), bias


def _tensor(variables: Mapping[str, Array], name: str, shape: tuple[int | None, ...]) -> Array:
    tensor = variables.get(f"actor/{name}")
    if tensor is None:
        raise CheckpointError(f"the checkpoint has no actor/{name}", _WHICH)
    fits = len(tensor.shape) == len(shape) and all(
        wanted in (None, has) for wanted, has in zip(shape, tensor.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if one is None else str(one) for one in shape)
        has = " x ".join(map(str, tensor.shape)) or "one number"
        raise CheckpointError(f"actor/{name} of the checkpoint is {has}, not {wanted}", _WHICH)
    if not np.isfinite(tensor).all():
        raise CheckpointError(
            f"actor/{name} of the checkpoint has a value that is not a finite number", _WHICH
        )
    return tensor


def main(read_checkpoint: Callable[[Path], Mapping[str, Array]] = read) -> int:
    parser = argparse.ArgumentParser(prog="cctraining.published", description=__doc__)
    parser.add_argument("agent", choices=[orca.AGENT])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path, help="a JSON file, for --cc-param weights=./…")
    given = parser.parse_args()
    try:
        weights = content(
            read_checkpoint(given.checkpoint),
            {"command": "python -m cctraining.published", "checkpoint": given.checkpoint.name},
        )
        text = json.dumps(weights) + "\n"
        given.output.write_text(text, encoding="utf-8")
    except CheckpointError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {given.output}: cannot be written ({error.strerror})", file=sys.stderr)
        return 2
    print(given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
