# SPDX-License-Identifier: Apache-2.0
"""The references of congestion controls, and the tests that compare ours (cc/references.yaml)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import yaml

from ccu.congestion import proofs
from ccu.congestion.provider import Control
from ddu.installation import data

FILE = data("ccu", "cc/references.yaml")


@cache
def _declared() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = yaml.load(FILE.read_bytes(), Loader=yaml.CSafeLoader)
    return found


def referenced(name: str, control: Control) -> Control:
    """Return the congestion control with what is declared of it."""
    declared = _declared().get(name, {})
    proof = declared.get("proof")
    passed = proofs.state(proof) if proof else None
    return replace(control, reference=declared.get("follows"), proof=proof, passed=passed)


def declared_proofs() -> set[str]:
    """Return the tests that are proofs."""
    return {one["proof"] for one in _declared().values() if "proof" in one}
