# SPDX-License-Identifier: Apache-2.0
"""From what the user wrote, in flags and YAML, to one validated experiment, or all its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ccu import scenarios
from ccu.spec import units
from ccu.spec.errors import Refused
from ccu.spec.experiment import MOST_UES, OAI_TESTBEDS, PHONE, PHONES_OWN, Experiment
from ccu.spec.mistakes import explained
from ccu.spec.yaml_places import read_mapping


def _buffer(value: object) -> object:
    return value if isinstance(value, dict) else units.buffer(value)


# What users write, the experiment's name for it, and how it is read.
_WRITTEN: dict[str, tuple[str, Callable[[object], object]]] = {
    "duration": ("duration_s", units.seconds),
    "rtt": ("rtt_ms", units.milliseconds),
    "mss": ("mss_bytes", lambda value: value),
    "socket_interval": ("socket_interval_ms", units.milliseconds),
    "mac_interval": ("mac_interval_ms", units.milliseconds),
    "flows": ("flows", units.flows),
    "traffic": ("traffic", units.traffic),
    "dl_delay": ("dl_delay_ms", units.milliseconds),
    "loss": ("loss", units.loss),
    "buffer": ("buffer", _buffer),
    # A resolved experiment, which can be read again, has none where the uplink's is the same.
    "ul_buffer": ("ul_buffer", lambda value: None if value is None else _buffer(value)),
    "max_bytes": ("max_bytes", units.size_bytes),
    "cc_params": (
        "cc_params",
        lambda value: (
            {str(key): units.word(item) for key, item in value.items()}
            if isinstance(value, dict)
            else value
        ),
    ),
}


_OAI = {
    "oai_version": "version",
    "runtime": "runtime",
    "usrp": "usrp",
    "capture_n3": "capture_n3",
}
"""What users write of OpenAirInterface: its name within the experiment's `oai`."""
_PHONE = {
    "serial": "serial",
    "adb": "adb",
    "phone_ssh": "ssh",
    "phone_load": "load",
    "server_address": "server_address",
    "server_port": "port",
    "phone_address": "phone_address",
    "max_bytes": "max_bytes",
    "place": "place",
    "note": "note",
}
"""What users write of a phone: its name within the experiment's `phone`."""
KEYS = frozenset({*Experiment.model_fields, *_WRITTEN, *_OAI, *_PHONE, "cc"})
"""All that people may write of an experiment."""


def resolve(flags: Mapping[str, Any], file: Path | None = None) -> Experiment:
    """The experiment that `flags` (None: not given) and the YAML file ask for; flags win.

    What neither says is taken from the scenario where it fixes it, then from the defaults.

    Raises Refused with one line for each mistake: where it stands, the rule, the mend.
    """
    written, places = collect(flags, file)
    return resolve_written(written, places)


def resolve_written(written: Mapping[str, Any], found_at: Mapping[str, str]) -> Experiment:
    """The experiment of values as people write them; `found_at` has the place of each key.

    Raises Refused as `resolve` does.
    """
    places = dict(found_at)
    problems: list[str] = []
    values: dict[str, Any] = {}
    for key, value in written.items():
        name, read = _WRITTEN.get(key, (key, lambda value: value))
        places.setdefault(name, places[key])
        try:
            values[name] = read(value)
        except (ValueError, TypeError) as error:
            problems.append(f"{places[key]}: {error}")
    _choose_flows(values, places, problems)
    _gather_oai(values, places)
    _gather_phone(values, places)
    if values.get("testbed") != PHONE:
        _complete_from_scenario(values, places)
    return _validated(values, places, problems)


def collect(flags: Mapping[str, Any], file: Path | None) -> tuple[dict[str, Any], dict[str, str]]:
    """What was written, flags before the YAML file, and the place of each key. Raises Refused."""
    written: dict[str, Any] = {}
    places: dict[str, str] = {}
    if file is not None:
        content, lines = read_mapping(file)
        for key, value in content.items():
            written[str(key)] = value
            places[str(key)] = f"{file}:{lines.get(str(key), 1)}: {key}"
    for key, value in flags.items():
        if value is not None:
            if key in ("cc", "flows"):  # Either says which flows there are: the flag replaces both.
                written.pop("cc", None)
                written.pop("flows", None)
            written[key] = value
            places[key] = f"--{key.replace('_', '-')}"
    if flags.get("cc") and flags.get("flows"):
        written["cc"] = flags["cc"]
    return written, places


def _gather_oai(values: dict[str, Any], places: dict[str, str]) -> None:
    """What concerns OpenAirInterface is one value of the experiment; flags win over the file's."""
    given = {name: values.pop(key) for key, name in _OAI.items() if key in values}
    if given or values.get("testbed") in OAI_TESTBEDS:
        before = values.get("oai") or {}
        values["oai"] = {**before, **given} if isinstance(before, dict) else before
        places.setdefault("oai", next((places[key] for key in _OAI if key in places), "oai"))


def _gather_phone(values: dict[str, Any], places: dict[str, str]) -> None:
    given = {name: values.pop(key) for key, name in _PHONE.items() if key in values}
    if given or values.get("testbed") == PHONE:
        before = values.get("phone") or {}
        values["phone"] = {**before, **given} if isinstance(before, dict) else before
        places.setdefault("phone", next((places[key] for key in _PHONE if key in places), "phone"))


def _choose_flows(values: dict[str, Any], places: dict[str, str], problems: list[str]) -> None:
    """`cc` is short for one flow of it; UDP has no congestion control."""
    cc = values.pop("cc", None)
    traffic = values.get("traffic")
    if isinstance(traffic, dict) and traffic.get("kind") == "udp":
        if cc not in (None, "udp"):
            problems.append(f"{places['cc']}: UDP has no congestion control; leave it out")
        values.setdefault("flows", [{"cc": "udp"}] * _ues(values))
    elif cc is not None and "flows" in values:
        problems.append(
            f"{places['cc']}: flows name their own congestion controls; give one of both"
        )
    elif cc is not None:
        values["flows"] = [{"cc": str(cc)}] * _ues(values)
        places["flows"] = places["cc"]
    elif values.get("testbed") == PHONE and values.get("direction") == "ul":
        values.setdefault("flows", [{"cc": PHONES_OWN}])
    elif not {"flows", "traffic"} & (set(places) - set(values)) and "flows" not in values:
        # Where those are given but wrong, that is told.
        problems.append("--cc: which congestion control? Name one of `ccu list cc`")


def _ues(values: dict[str, Any]) -> int:
    """A flow for each UE; what is no number of UEs is told later."""
    ues = values.get("ues", 1)
    return ues if isinstance(ues, int) and 0 < ues <= MOST_UES else 1


def _complete_from_scenario(values: dict[str, Any], places: dict[str, str]) -> None:
    """Path and link as the scenario's source had them, where the user says nothing of them."""
    name = values.get("scenario", Experiment.model_fields["scenario"].default)
    try:
        file = scenarios.locate(str(name))
    except Refused:
        return  # Told with all else that cannot work, before anything starts.
    for key, (value, part) in scenarios.settings(file, set(values)).items():
        values[key] = value
        places[key] = f"{file}: {part}"


def _validated(values: dict[str, Any], places: dict[str, str], problems: list[str]) -> Experiment:
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        parts = {("oai", name): key for key, name in _OAI.items()}
        parts |= {("phone", name): key for key, name in _PHONE.items()}
        problems += explained(error, places, KEYS, parts) or ([] if problems else [str(error)])
    if problems:
        raise Refused("\n".join(dict.fromkeys(problems)))
    return experiment
