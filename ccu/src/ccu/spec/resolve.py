# SPDX-License-Identifier: Apache-2.0
"""The steps from flags and YAML to one validated experiment, or to all mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ccu.spec import traffic
from ccu.spec.experiment import Experiment
from ccu.spec.fields import MOST_UES
from ccu.spec.keys import flag_of, keys
from ccu.spec.option import Written
from ccu.spec.option import written as written_fields
from ccu.spec.places import Places, placed
from ccu.spec.radio import RADIO, Preset, gathered, one_key_each
from ccu.spec.testbed import TestbedOptions, default, every_options, options_of, testbeds_with
from ccu.spec.testbed import keys as option_keys
from ccu.spec.yaml_places import read_lines, read_mapping
from ddu.console.problems import InvalidValue, Problem, RefusedError, Where
from ddu.console.validation import invalid_values

Completion = Callable[[str, set[str]], Mapping[str, tuple[Any, Where]]]
"""A function of a scenario's name and the fields already set: the values it fixes, with places."""

_CC = Where(key="cc")
_SEE = "`ccu run … --dry-run` prints the keys"


def resolve_written(
    written: Mapping[str, Any], found_at: Places, complete: Completion, elsewhere: str | None = None
) -> Experiment:
    """The experiment of values as people write them, those of the radio each under a key of its
    own (`ccu.spec.radio`); `found_at` has the place of each key.

    What they do not say is taken from the scenario where it fixes it, then from the defaults.

    `elsewhere`: the file of what has no place, if there is one. Raises RefusedError with one line
    for each mistake: the place, the rule, the fix.
    """
    places = dict(found_at)
    problems: list[Problem] = []
    fields = {one.key: one for one in written_fields(Experiment)}
    values: dict[str, Any] = {}
    for key, value in gathered(written).items():
        if key in fields:
            if key != fields[key].name in written:
                problem = f"is given as {fields[key].name} too"
                problems.append(Problem(problem, "leave one of them out", Where(key=key)))
            if key in places:
                places.setdefault(fields[key].name, places[key])
            _read(fields[key], value, values, problems)
        else:
            values[key] = value
    testbed = _testbed(values, places, problems)
    _choose_flows(values, testbed, places, problems)
    if "scenario" not in testbed.unsupported:
        name = str(values.get("scenario", Experiment.model_fields["scenario"].default))
        try:
            fixed = complete(name, {*values, *written})
        except RefusedError as error:
            fixed = {}
            problems += error.problems
        for key, (value, place) in fixed.items():
            field, _, inside = key.partition(".")
            if inside:
                values[field] = {**values.get(field, {}), inside: value}
            else:
                values[key] = value
            places[key] = place
    try:
        return _validated(values, problems, _typed(written, values))
    except RefusedError as error:
        raise RefusedError(
            dict.fromkeys(placed(one, places, elsewhere) for one in error.problems)
        ) from None


def _read(written: Written, value: object, values: dict[str, Any], problems: list[Problem]) -> None:
    """Put what `value` means under the field's name, or what is wrong with it into `problems`."""
    read = written.option.read
    if read is None or (value is None and written.field.default is None):
        values[written.name] = value
        return
    where = Where(key=written.name)
    try:
        values[written.name] = read(value)
    except InvalidValue as error:
        problems += error.at(where)
    except (ValueError, TypeError) as error:
        problems.append(Problem(str(error), where=where))


def collect(
    flags: Mapping[str, Any], file: Path | None, preset: Preset
) -> tuple[dict[str, Any], dict[str, Where]]:
    """Return what was written, flags before the YAML file, and the place of each key.

    Raises RefusedError.
    """
    written: dict[str, Any] = {}
    places: dict[str, Where] = {}
    spellings = {one.key: {one.name} - {one.key} for one in written_fields(Experiment)}
    if file is not None:
        written, places = one_key_each(*_read_file(file), preset)
    given = {key: value for key, value in flags.items() if value is not None}
    found_at = {key: Where(key=flag_of(key)) for key in given}
    for key, value in (flagged := one_key_each(given, found_at, preset))[0].items():
        if key in ("cc", "flows"):  # Either says which flows there are: the flag replaces both.
            written.pop("cc", None)
            written.pop("flows", None)
        for other in spellings.get(key, ()):  # A file may have run.json's: rtt_ms for rtt.
            written.pop(other, None)
        written[key] = value
        inside = {path: at for path, at in flagged[1].items() if path.startswith(f"{key}.")}
        places |= {key: flagged[1][key]} | inside
    if flags.get("cc") and flags.get("flows"):
        written["cc"] = flags["cc"]
    return written, places


def _read_file(file: Path) -> tuple[dict[str, Any], dict[str, Where]]:
    """Return the content of an experiment file, and the place of each key, also within `radio`."""
    content, lines = read_mapping(file)
    # A key that YAML merges from elsewhere has no line.
    places = {str(key): Where(str(file), lines.get(str(key), 1), str(key)) for key in content}
    if isinstance(content.get(RADIO), dict):
        for path, line in read_lines(file).items():
            if len(path) == 2 and path[0] == RADIO:
                key = ".".join(path)
                places[key] = Where(str(file), line, key)
    return {str(key): value for key, value in content.items()}, places


def _testbed(
    values: dict[str, Any], places: dict[str, Where], problems: list[Problem]
) -> type[TestbedOptions]:
    """Replace the testbed's name, and the options that stand beside it, by one value.

    Of the options that stand under the testbed's own key, as in run.json, flags win.
    """
    name = values.get("testbed", default())
    options = options_of(name) if isinstance(name, str) else None
    of_others = _pop_options_of_others(values, options)
    if options is None:
        return TestbedOptions  # The experiment's own validation says so.
    problems += [
        Problem(
            "is for other testbeds",
            f"add --testbed {' or '.join(testbeds)}, or leave it out",
            Where(key=key),
        )
        for key, testbeds in of_others.items()
    ]
    section = (values.pop(options.section, None) or {}) if options.section else {}
    if not isinstance(section, dict):
        problems.append(
            Problem("is not a mapping", "write one of its options", Where(key=options.section))
        )
        section = {}
    given = dict(section)
    found_at = {key: Where(key=key).inside(places[options.section]) for key in section}
    unplaced: list[Problem] = []
    for key, written in option_keys(options).items():
        if key in values:
            _read(written, values.pop(key), given, unplaced)
            found_at[written.name] = places[key]
    try:
        values["testbed"] = options.model_validate({**given, "name": name})
    except ValidationError as error:
        unplaced += invalid_values(
            error, options, [one.name for one in option_keys(options).values()]
        )
        values.pop("testbed", None)
    problems += [placed(one, places | found_at) for one in unplaced]
    return options


def _pop_options_of_others(
    values: dict[str, Any], options: type[TestbedOptions] | None
) -> dict[str, list[str]]:
    """Remove what the testbed does not have; return the testbeds that do, by the key."""
    own = {*option_keys(options), options.section} if options else set()
    owners = {}
    for other in every_options():
        for key in {*option_keys(other), other.section} - own:
            if values.pop(key, None) is not None:
                owners[key] = testbeds_with(other)
    return owners


def _choose_flows(
    values: dict[str, Any],
    testbed: type[TestbedOptions],
    places: dict[str, Where],
    problems: list[Problem],
) -> None:
    """Replace `cc`, which is short for a flow of it for each UE; UDP has no congestion control."""
    cc = values.pop("cc", None)
    try:
        ccs = traffic.validated(values["traffic"]).own_ccs if "traffic" in values else None
    except ValueError:  # The experiment's own validation reports it.
        values.setdefault("flows", [{"cc": str(cc or "any")}])
        return
    if ccs:
        rule, names = "the traffic has no such congestion control", " or ".join(ccs)
        if cc not in (None, *ccs):
            problems.append(Problem(rule, f"leave it out, or write {names}", _CC))
        flows = values.setdefault("flows", [{"cc": cc or ccs[0]}] * _ues(values))
        if isinstance(flows, list) and any(_is_of_another(flow, ccs) for flow in flows):
            fix = f"leave flows out, or write {names} for each"
            problems.append(Problem(rule, fix, Where(key="flows")))
    elif cc is not None and "flows" in values:
        problems.append(
            Problem("flows name their own congestion controls", "give one of both", _CC)
        )
    elif cc is not None:
        values["flows"] = [{"cc": str(cc)}] * _ues(values)
        places["flows"] = places["cc"]
    elif foreign := testbed.foreign_ccs.get(str(values.get("direction", "dl"))):
        values.setdefault("flows", [{"cc": foreign}])
    elif not {"flows", "traffic"} & (set(places) - set(values)) and "flows" not in values:
        # If they were written but are wrong, that has been reported.
        problems.append(
            Problem("no congestion control is chosen", "name one of `ccu list cc`", _CC)
        )


def _is_of_another(flow: object, ccs: tuple[str, ...]) -> bool:
    return isinstance(flow, dict) and flow.get("cc", ccs[0]) not in ccs


def _ues(values: dict[str, Any]) -> int:
    """Return one flow for each UE; an invalid number of UEs is reported later."""
    try:
        ues = int(values.get("ues", 1))
    except (TypeError, ValueError, OverflowError):
        return 1
    return ues if 0 < ues <= MOST_UES else 1


def _typed(written: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the value and the text of each field that was read from a quantity with a unit."""
    texts = {one.name: written.get(one.key) for one in written_fields(Experiment)}
    numbers = {name: values.get(name) for name in texts}
    return {
        name: (repr(numbers[name]), repr(text))
        for name, text in texts.items()
        if isinstance(text, str) and isinstance(numbers[name], (int, float))
    }


def _as_typed(problem: Problem, typed: Mapping[str, tuple[str, str]]) -> Problem:
    """Return the problem with the text that was written where it names the value: 0s, not 0.0."""
    value, text = typed.get(problem.where.key or "", ("", ""))
    if not value or not problem.rule.startswith(f"{value} "):
        return problem
    return replace(problem, rule=f"{text}{problem.rule.removeprefix(value)}")


def _validated(
    values: dict[str, Any], problems: list[Problem], typed: Mapping[str, tuple[str, str]]
) -> Experiment:
    if problems:  # What is missing is reported already.
        values = {"flows": [{"cc": "cubic"}], **values}
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        mistakes = invalid_values(error, Experiment, keys(), _SEE)
        problems += [_as_typed(one, typed) for one in mistakes]
    if problems:
        raise RefusedError(problems)
    return experiment
