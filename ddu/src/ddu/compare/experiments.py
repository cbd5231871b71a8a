# SPDX-License-Identifier: Apache-2.0
"""The settings by which the experiments of two runs differ, and their wording in a label.

Runs are repeats of each other only if nothing differs but the seed and what cannot change a packet.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ddu.run.manifest import Manifest

_CHANGE_NO_PACKET = {
    "seed", "capture", "snaplen_bytes", "explain", "mac_pcap", "socket_interval_ms",
    "mac_interval_ms", "changes", "oai.capture_n3", "phone.note", "phone.phone_address",
}  # fmt: skip
"""Settings that make no other experiment. A label has the changes already (`load._label`)."""
_FREE = ("cc_params.", "radio.", "source.")
"""Settings that are there only if somebody wrote them: a run without one has another experiment.
Any other part that is missing is one that the run's version, or its testbed, did not know."""
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

Settings = dict[str, Any]


def settings_of(manifest: Manifest) -> Settings:
    """Return what determined the packets of the run, by dotted keys of run.json's experiment, and
    the digests of the congestion controls that the user wrote."""
    experiment = manifest.experiment.model_dump(exclude_unset=True)
    sources = {
        f"source.{name}": each["sha256"][:7]
        for name, each in manifest.cc_implementation.items()
        if isinstance(each, dict) and isinstance(each.get("sha256"), str)
    }
    every = dict(_flat(experiment)) | sources
    return {key: value for key, value in every.items() if key not in _CHANGE_NO_PACKET}


def differing(runs: Sequence[Settings]) -> list[str]:
    """Return the keys of which the runs have several values, in the order of run.json."""
    keys = dict.fromkeys(key for each in runs for key in each)
    return [key for key in keys if len(_values(runs, key)) > 1]


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
            if (key not in usual or _comparable(each.get(key)) != usual[key])
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
        values = Counter(_comparable(each.get(key)) for each in experiments)
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
    others = {"testbed"} if key in _top(runs[0]) else {"testbed", key.split(".")[0]}
    return has_null and any(len(_values(runs, other)) > 1 for other in others - {key})


def _top(settings: Settings) -> set[str]:
    return {key.split(".")[0] for key in settings}


def _twin(key: str, way: str = "dl", other: str = "ul") -> str:
    """Return the key of the other direction; nothing for a key of none."""
    parts = key.split(".")
    return ".".join(other if part == way else part for part in parts) if way in parts else ""


def _is_alike(key: str, runs: Sequence[Settings]) -> bool:
    return all(each.get(key) == each.get(_twin(key)) for each in runs)


def _values(runs: Sequence[Settings], key: str) -> set[Any]:
    there = (each for each in runs if key.startswith(_FREE) or key.split(".")[0] in _top(each))
    return {_comparable(each.get(key)) for each in there}


def _comparable(value: Any) -> Any:
    """Return the value, or a text of one that a set cannot have."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


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


def _flat(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings by dotted keys."""
    for name, value in content.items():
        key = f"{before}{name}"
        if key == "flows" and isinstance(value, list):
            yield key, ", ".join(map(_flow, value))
        elif key == "duplex" and isinstance(value, dict) and isinstance(value.get("tdd"), dict):
            tdd = value["tdd"]
            yield key, tdd.get("pattern")
            yield from _flat({"special": tdd.get("special")}, "duplex.")
        elif isinstance(value, dict) and value and value.keys() <= {"packets", "bytes"}:
            yield key, next((f"{size} {unit}" for unit, size in value.items() if size), None)
        elif isinstance(value, dict):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _flow(flow: Any) -> str:
    """Return a flow as `cubic@10`, with its UE; one with traffic of its own is named by that."""
    if not isinstance(flow, dict):
        return str(flow)
    start = flow.get("start_s") or 0
    own = [f"{key}:{flow[key]}" for key in flow if key not in ("cc", "cc_file", "start_s", "ue")]
    ue = [f"UE {flow['ue']}"] if flow.get("ue") is not None else []
    when = f"@{start:g}" if start or not own else ""
    return " ".join([f"{own[0] if own else flow.get('cc')}{when}", *ue])
