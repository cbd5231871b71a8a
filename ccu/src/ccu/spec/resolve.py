# SPDX-License-Identifier: Apache-2.0
"""From what the user wrote, in flags and YAML, to one validated experiment, or all its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ccu.spec.errors import Refused
from ccu.spec.experiment import MOST_UES, Experiment
from ccu.spec.mistakes import explained
from ccu.spec.option import Written
from ccu.spec.option import written as written_fields
from ccu.spec.testbed import DEFAULT, TestbedOptions, every_options, options_of, testbeds_with
from ccu.spec.testbed import keys as option_keys
from ccu.spec.yaml_places import read_mapping

Completion = Callable[[str, set[str]], Mapping[str, tuple[Any, str]]]
"""What a scenario fixes, by its name and the fields that are taken: values, each with its place."""


def keys() -> frozenset[str]:
    """Return all that people may write of an experiment."""
    options = every_options()
    sections = {one.section for one in options if one.section}
    of_testbeds = {key for one in options for key in option_keys(one)}
    of_all = {one.key for one in written_fields(Experiment)}
    return frozenset({*Experiment.model_fields, *of_all, *of_testbeds, *sections, "cc"})


def flag_keys() -> dict[str, str]:
    """Return the key that each flag of `ccu run` sets."""
    models: list[type[BaseModel]] = [*every_options(), Experiment]
    return {"--cc": "cc"} | {
        flag: one.key for model in models for one in written_fields(model) for flag in one.flags
    }


def resolve(flags: Mapping[str, Any], file: Path | None, complete: Completion) -> Experiment:
    """The experiment that `flags` (None: not given) and the YAML file ask for; flags win.

    What neither says is taken from the scenario where it fixes it, then from the defaults.

    Raises Refused with one line for each mistake: where it stands, the rule, the mend.
    """
    written, places = collect(flags, file)
    return resolve_written(written, places, complete)


def resolve_written(
    written: Mapping[str, Any], found_at: Mapping[str, str], complete: Completion
) -> Experiment:
    """The experiment of values as people write them; `found_at` has the place of each key.

    Raises Refused as `resolve` does.
    """
    places = dict(found_at)
    problems: list[str] = []
    fields = {one.key: one for one in written_fields(Experiment)}
    values: dict[str, Any] = {}
    for key, value in written.items():
        name = fields[key].name if key in fields else key
        places.setdefault(name, places[key])
        if key in fields:
            _read(fields[key], value, values, places[key], problems)
        else:
            values[name] = value
    testbed = _testbed(values, places, problems)
    _choose_flows(values, testbed, places, problems)
    if "scenario" not in testbed.unsupported:
        name = str(values.get("scenario", Experiment.model_fields["scenario"].default))
        for key, (value, place) in complete(name, set(values)).items():
            values[key], places[key] = value, place
    return _validated(values, places, problems)


def _read(
    written: Written, value: object, values: dict[str, Any], place: str, problems: list[str]
) -> None:
    """Put what `value` means under the field's name, or what is wrong with it into `problems`."""
    read = written.option.read
    if read is None or (value is None and written.field.default is None):
        values[written.name] = value
        return
    try:
        values[written.name] = read(value)
    except (ValueError, TypeError) as error:
        problems.append(f"{place}: {error}")


def collect(flags: Mapping[str, Any], file: Path | None) -> tuple[dict[str, Any], dict[str, str]]:
    """What was written, flags before the YAML file, and the place of each key. Raises Refused."""
    written: dict[str, Any] = {}
    places: dict[str, str] = {}
    shown = {key: flag for flag, key in reversed(flag_keys().items())}
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
            places[key] = shown.get(key, f"--{key.replace('_', '-')}")
    if flags.get("cc") and flags.get("flows"):
        written["cc"] = flags["cc"]
    return written, places


def _testbed(
    values: dict[str, Any], places: dict[str, str], problems: list[str]
) -> type[TestbedOptions]:
    """Replace the testbed's name, and the options that stand beside it, by one value.

    Of the options that stand under the testbed's own key, as in run.json, flags win.
    """
    name = values.get("testbed", DEFAULT)
    options = options_of(name) if isinstance(name, str) else None
    of_others = _pop_options_of_others(values, options)
    if options is None:
        return TestbedOptions  # The experiment's own validation says so.
    problems += [
        f"{places[key]}: is for other testbeds; add --testbed {' or '.join(testbeds)}, "
        "or leave it out"
        for key, testbeds in of_others.items()
    ]
    section = (values.pop(options.section, None) or {}) if options.section else {}
    if not isinstance(section, dict):
        problems.append(f"{places[options.section]}: write a mapping of its options")
        section = {}
    given = dict(section)
    found_at = {key: f"{places[options.section]}: {key}" for key in section}
    for key, written in option_keys(options).items():
        if key in values:
            _read(written, values.pop(key), given, places[key], problems)
            found_at[written.name] = places[key]
    try:
        values["testbed"] = options.model_validate({**given, "name": name})
    except ValidationError as error:
        known = [written.name for written in option_keys(options).values()]
        problems += explained(error, places | found_at, known, options)
        values.pop("testbed", None)
    return options


def _pop_options_of_others(
    values: dict[str, Any], options: type[TestbedOptions] | None
) -> dict[str, list[str]]:
    """Remove what the testbed does not have; return the testbeds that do, by the key."""
    own = {*option_keys(options), options.section} if options else set()
    found = {}
    for other in every_options():
        for key in {*option_keys(other), other.section} - own:
            if values.pop(key, None) is not None:
                found[key] = testbeds_with(other)
    return found


def _choose_flows(
    values: dict[str, Any],
    testbed: type[TestbedOptions],
    places: dict[str, str],
    problems: list[str],
) -> None:
    """Replace `cc`, which is short for a flow of it for each UE; UDP has no congestion control."""
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
    elif foreign := testbed.foreign_ccs.get(str(values.get("direction", "dl"))):
        values.setdefault("flows", [{"cc": foreign}])
    elif not {"flows", "traffic"} & (set(places) - set(values)) and "flows" not in values:
        # Where those are given but wrong, that is told.
        problems.append("--cc: which congestion control? Name one of `ccu list cc`")


def _ues(values: dict[str, Any]) -> int:
    """A flow for each UE; what is no number of UEs is told later."""
    ues = values.get("ues", 1)
    return ues if isinstance(ues, int) and 0 < ues <= MOST_UES else 1


def _validated(values: dict[str, Any], places: dict[str, str], problems: list[str]) -> Experiment:
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        problems += explained(error, places, keys()) or ([] if problems else [str(error)])
    if problems:
        raise Refused("\n".join(dict.fromkeys(problems)))
    return experiment
