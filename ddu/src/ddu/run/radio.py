# SPDX-License-Identifier: Apache-2.0
"""The radio of a run in one line, for reports and lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ddu.run.manifest import Experiment


def described(experiment: Experiment) -> str | None:
    """Return the carrier and what run.json says of its use; None if it has no radio of its own."""
    if experiment.prb is None:
        return None
    return ", ".join(_parts(experiment.prb, experiment.model_extra or {}))


def _parts(prb: int, written: Mapping[str, Any]) -> Iterator[str]:
    radio = dict(written.get("radio") or {})
    width = f"{prb} PRB"
    if (numerology := written.get("numerology")) is not None:
        width += f" at {15 * 2**numerology} kHz"
    yield width
    if carriers := radio.pop("secondary", None):
        yield f"{1 + sum(one.get('count', 1) for one in carriers)} carriers"
    if (ghz := written.get("carrier_ghz")) is not None:
        yield f"{ghz:g} GHz"
    if duplex := written.get("duplex"):
        yield "FDD" if duplex == "fdd" else f"TDD {duplex['tdd']['pattern']}"
    if layers := radio.pop("layers", None):
        yield f"{layers['dl']}/{layers['ul']} layers"
    if table := written.get("mcs_table"):
        yield str(table).upper()
    if (profile := written.get("gnb_profile")) not in (None, "ideal"):
        yield f"gNB {profile}"
    for key, value in radio.items():
        yield f"{key} {_value(value)}"


def _value(value: object) -> str:
    """Return a value of YAML in one line without brackets."""
    if not isinstance(value, Mapping):
        return str(value)
    return " ".join(f"{key} {_value(inner)}" for key, inner in value.items())
