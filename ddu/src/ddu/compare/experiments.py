# SPDX-License-Identifier: Apache-2.0
"""The settings by which the experiments of two runs differ.

Runs are repeats of each other only if nothing differs but the seed and what cannot change a packet.
"""

from __future__ import annotations

import json
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
    return [key for key in keys if len(values_of(runs, key)) > 1]


def sections(settings: Settings) -> set[str]:
    """Return the parts of the experiment that the run's version and testbed knew."""
    return {key.split(".")[0] for key in settings}


def values_of(runs: Sequence[Settings], key: str) -> set[Any]:
    """Return the values that the runs have, None for one that was left away."""
    there = (each for each in runs if key.startswith(_FREE) or key.split(".")[0] in sections(each))
    return {comparable(each.get(key)) for each in there}


def comparable(value: Any) -> Any:
    """Return the value, or a text of one that a set cannot have."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


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
