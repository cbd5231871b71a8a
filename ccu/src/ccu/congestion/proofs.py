# SPDX-License-Identifier: Apache-2.0
"""Whether the proofs of congestion controls have passed on this machine, with the sources as they
are. The tests record it (tests/controls/conftest.py)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ddu.installation import CHECKOUT, data

_TREE = CHECKOUT or data("ccu", "")
RECORD = _TREE / ".tools" / "proofs.json"
_SOURCES = data("ccu", "cc/bpf").parent
_SUFFIXES = (".c", ".h", ".py", ".json")  # .json: weights


def state(proof: str) -> str:
    """Return whether a proof, `file::test`, has passed."""
    if "::" not in proof:
        return ""
    known = _recorded().get(proof)
    if known is None:
        return "not run"
    if known["sources"] != _digest(proof):
        return "not since a change"
    return "yes" if known["passed"] else "no"


def record(outcomes: Mapping[str, bool]) -> None:
    """Keep which proofs have passed, and with which sources."""
    now = {
        proof: {"passed": passed, "sources": _digest(proof)} for proof, passed in outcomes.items()
    }
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(_recorded() | now, indent=1, sort_keys=True) + "\n")


def _recorded() -> dict[str, dict[str, object]]:
    try:
        found: dict[str, dict[str, object]] = json.loads(RECORD.read_text())
    except (OSError, ValueError):
        return {}
    return found


def _digest(proof: str) -> str:
    """Return a digest of all congestion controls, which share code, and of the proof's file."""
    test = _TREE / proof.partition("::")[0]
    return hashlib.sha256(_sources() + _content(test)).hexdigest()


@cache
def _sources() -> bytes:
    files = sorted(file for file in _SOURCES.rglob("*") if file.suffix in _SUFFIXES)
    return b"".join(map(_content, files))


def _content(file: Path) -> bytes:
    text = file.read_bytes() if file.exists() else b""
    return f"{file.name} {len(text)}\n".encode() + text
