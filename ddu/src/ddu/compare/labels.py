# SPDX-License-Identifier: Apache-2.0
"""The labels of runs: by what their experiments differ, in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ddu.compare.experiments import Settings, comparable, differing, sections, values_of

_SAY_THEMSELVES = {
    "cc", "scenario", "direction", "testbed", "aqm", "gnb_profile", "mcs_table", "traffic.kind",
    "flows", "duplex",
}  # fmt: skip
"""Settings whose value needs no name."""
_SECTIONS = {"cc_params", "radio", "traffic", "duplex", "virtual", "oai", "phone"}
"""Parts of the experiment whose name a setting does not need."""
_UNITS = ("ms", "s", "ghz", "mbps", "bps", "bytes", "db")
_MOST_SPELT_OUT = 2
"""Settings that may differ until a label leaves out the values that most experiments have."""
_LONGEST = 40
"""Characters of the longest value that a label spells out."""


def parts_of_label(runs: Sequence[Settings]) -> list[list[str]]:
    """Return by what each run differs from the others, in words; nothing where it does not."""
    keys = [key for key in differing(runs) if not _follows(key, runs)]
    both_ways = {key for key in keys if _twin(key) in keys and _is_alike(key, runs)}
    keys = [key for key in keys if _twin(key, "ul", "dl") not in both_ways]
    numbered = {key: _numbers(runs, key) for key in keys}
    usual = _usual(runs, keys) if len(keys) > _MOST_SPELT_OUT else {}
    return [
        [
            text
            for key in keys
            if (key not in usual or comparable(each.get(key)) != usual[key])
            and (text := _said(each, key, key in both_ways, numbered[key]))
        ]
        for each in runs
    ]


def _usual(runs: Sequence[Settings], keys: Sequence[str]) -> dict[str, Any]:
    """Return the values that most experiments have, each of several repeats counted once: where
    many settings differ, these go without saying. Null does so anyway."""
    experiments = {_value(each, *keys): each for each in runs}.values()
    usual = {}
    for key in keys:
        values = Counter(comparable(each.get(key)) for each in experiments)
        value, count = values.most_common(1)[0]
        if key != "cc" and 2 * count > len(experiments) and (value is None or None not in values):
            usual[key] = value
    return usual


def _follows(key: str, runs: Sequence[Settings]) -> bool:
    """Return whether the values follow from another setting that differs, and need no words."""
    if key == "flows":
        return len({_value(each, "cc", "flows") for each in runs}) == len(
            {_value(each, "cc") for each in runs}
        )
    # A testbed has null for what it cannot set, and FDD has no special slot.
    has_null = any(each.get(key) is None for each in runs)
    others = {"testbed"} if key in sections(runs[0]) else {"testbed", key.split(".")[0]}
    return has_null and any(len(values_of(runs, other)) > 1 for other in others - {key})


def _twin(key: str, way: str = "dl", other: str = "ul") -> str:
    """Return the key of the other direction; nothing for a key of none."""
    parts = key.split(".")
    return ".".join(other if part == way else part for part in parts) if way in parts else ""


def _is_alike(key: str, runs: Sequence[Settings]) -> bool:
    return all(each.get(key) == each.get(_twin(key)) for each in runs)


def _value(settings: Settings, *keys: str) -> str:
    return json.dumps([settings.get(key) for key in keys])


def _numbers(runs: Sequence[Settings], key: str) -> dict[str, int]:
    """Return a number for each value, if some are too long to be spelt out."""
    texts = list(dict.fromkeys(_text(each[key]) for each in runs if each.get(key) is not None))
    if max(map(len, texts), default=0) <= _LONGEST:
        return {}
    return {text: number for number, text in enumerate(texts, 1)}


def _said(settings: Settings, key: str, both_ways: bool, numbers: Mapping[str, int]) -> str:
    """Return a setting as `rtt 100 ms`, `dtt=40ms` or `no gro`; nothing for null."""
    value = settings.get(key)
    if value is None:
        return ""
    text = _text(value)
    name, unit = _name_and_unit(key.replace(".dl", "", 1) if both_ways else key)
    if numbers:
        return f"{name} no. {numbers[text]}"
    if key.startswith("cc_params."):
        return f"{name}={text}"
    if key == "prb":
        return f"{text} PRB"
    if key in _SAY_THEMSELVES:
        return text
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return " ".join(filter(None, (name, text, unit)))


def _name_and_unit(key: str) -> tuple[str, str]:
    """Return `rtt` and `ms` of `rtt_ms`."""
    parts = key.split(".")
    if parts[0] == "cc_params":
        return ".".join(parts[1:]), ""
    if parts[0] in _SECTIONS and len(parts) > 1:
        parts = parts[1:]
    words = " ".join(parts).replace("_", " ").split()
    unit = words.pop() if len(words) > 1 and words[-1] in _UNITS else ""
    return " ".join(words), {"ghz": "GHz", "mbps": "Mbit/s", "bps": "bit/s", "db": "dB"}.get(
        unit, unit
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)
