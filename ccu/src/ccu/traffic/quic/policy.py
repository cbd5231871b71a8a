# SPDX-License-Identifier: Apache-2.0
"""A policy (docs/congestion-controls.md) that decides for QUIC: whether it can run, and the program
beside the sender."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ccu.host import policies
from ccu.spec.errors import RunFailed
from ddu.run.integrity import sha256_of


def words(file: Path, parameters: Sequence[str], *others: str) -> list[str]:
    """Return the program that runs a policy, without the descriptors of its pipes."""
    return [*policies.command("run", file, _by_name(parameters)), *others]


def said_of(file: Path, parameters: Sequence[str]) -> Mapping[str, Any]:
    """Return what run.json says of a policy."""
    digest, given = sha256_of(file), _by_name(parameters)
    return {"kind": "policy", "source": str(file), "sha256": digest, "parameters": given}


@cache
def try_out(file: Path, parameters: tuple[str, ...]) -> None:
    """Load and make a policy, contained. Raises RefusedError if it cannot run."""
    policies.try_out(file, _by_name(parameters))


def check_that_it_decided(flow: str, counters: Mapping[str, int], ended: Path) -> None:
    """Raise RunFailed if another than the policy controlled a flow for a time.

    `counters`: those of the sender's report; `ended`: the file in which the policy says why it
    ended.
    """
    try:
        said = json.loads(ended.read_text())
    except (OSError, ValueError):
        said = {"code": 1, "reason": "no reason given", "line": None}
    if said["code"]:
        place = f" (line {said['line']})" if said["line"] else ""
        rule = f"the policy ended with {said['reason']}{place}, and NewReno took over"
        raise RunFailed("traffic", f"flow {flow}: {rule}. Correct the policy")
    if count := counters["fallbacks"]:
        rule = f"the policy was silent for 0.5 s, and NewReno took over {count} times"
        raise RunFailed("traffic", f"flow {flow}: {rule}. Let it answer sooner")


def _by_name(parameters: Sequence[str]) -> dict[str, str]:
    return dict(one.split("=", 1) for one in parameters)
