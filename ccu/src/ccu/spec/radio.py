# SPDX-License-Identifier: Apache-2.0
"""The radio of an experiment: nr-link's keys of `radio` (docs/link-config.md), and short forms.

The mapping goes to nr-link as it is, which knows its keys and rules. Six of its keys are fields of
an experiment; its `radio` has the others. Written values become one key each, `prb` or
`radio.layers`, so that flags, files, presets and campaigns can replace each other's key by key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from ccu.spec.option import Option, written
from ccu.spec.testbed import Value
from ddu.console.problems import InvalidValue, Problem, RefusedError, Where, invalid

RADIO = "radio"
DRX = "drx"
"""The short form that sets DRX and RRC states, two keys of nr-link's `radio`."""
OFF = "off"
FIELDS = frozenset({"prb", "numerology", "carrier_ghz", "duplex", "mcs_table", "gnb_profile"})
"""Keys of nr-link's `radio` that are fields of an experiment."""

Written = dict[str, Any]
Places = Mapping[str, Where]
Preset = Callable[[str, str], tuple[Written, Places]]
"""A function of the kind of a preset, `radio` or `drx`, and its name or file: its keys of `radio`,
and the place of each."""

_SLEEP_KEYS = (f"{RADIO}.drx", f"{RADIO}.rrc")

# nr-link's limit, which it states for the secondary ones alone (TS 38.331 maxNrofServingCells).
_MOST_CARRIERS = 16
_LAYERS = re.compile(r"(\d+)(?:/(\d+))?")
_PATTERN = re.compile(r"[DSU]+")


def as_it_is(written: object) -> object:
    """Return the value, which nr-link reads."""
    return written


def read_layers(text: object) -> object:
    """Return the layers of both directions: `4`, or `4/1` for downlink and uplink."""
    if isinstance(text, dict):
        return text
    match = _LAYERS.fullmatch(str(text).strip())
    if match is None:
        raise invalid(f"{text!r} is not a number of layers", "write 4, or 4/1 for DL and UL")
    return {"dl": int(match[1]), "ul": int(match[2] or match[1])}


def read_rlc(text: object) -> object:
    """Return the RLC configuration of a mode."""
    return text if isinstance(text, dict) else {"mode": text}


def read_handover(text: object) -> object:
    """Return the configuration of a kind of handover."""
    return text if isinstance(text, dict) else {"kind": "off" if text is False else text}


def read_load(text: object) -> object:
    """Return a share of resources: `0.5`, or `50%`."""
    word = str(text).strip()
    try:
        return float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        fix = "write a share between 0 and 1, such as 0.5"
        raise invalid(f"{text!r} is not a load", fix) from None


def read_carriers(text: object) -> object:
    """Return the secondary carriers beside the primary one: all of one kind."""
    match = re.fullmatch(r"\d+", str(text).strip())
    if match is None or int(match[0]) < 1:
        raise invalid(f"{text!r} is not a number of carriers", f"write 1 to {_MOST_CARRIERS}")
    if int(match[0]) > _MOST_CARRIERS:
        fix = f"use at most {_MOST_CARRIERS} component carriers, the primary one included"
        raise invalid(f"{text!r} is not between 1 and {_MOST_CARRIERS}", fix)
    return [{"count": int(match[0]) - 1}] if int(match[0]) > 1 else []


def read_duplex(text: object) -> object:
    """Return the duplex of `fdd` or of a TDD pattern such as `DDDSU`."""
    is_pattern = isinstance(text, str) and _PATTERN.fullmatch(text)
    return {"tdd": {"pattern": text}} if is_pattern else text


def _short(
    help: str, read: Callable[[Any], object], *takes: str, unset: str, example: str
) -> Option:
    """Return an option whose value in YAML has one of the JSON types that `read` takes."""
    schema = {"type": list(takes)}
    return Option(help, read=read, schema=schema, unset=unset, example=example)


class ShortForms(Value):
    """Keys that are short for one of `radio`."""

    layers: Annotated[
        str | None,
        _short("MIMO layers at most, of both directions or as DL/UL.", read_layers,
               "integer", "string", "object", unset="1", example="4/1"),
    ] = None  # fmt: skip
    scheduler: Annotated[
        str | None,
        _short("Scheduler: round_robin, proportional_fair or max_ci.", as_it_is,
               "string", "object", unset="round_robin", example="max_ci"),
    ] = None  # fmt: skip
    rlc: Annotated[
        str | None,
        _short("RLC mode: am or um.", read_rlc, "string", "object", unset="am", example="um"),
    ] = None
    carriers: Annotated[
        str | None,
        _short("Component carriers, all like the first.", read_carriers,
               "integer", "string", unset="1", example="8"),
    ] = None  # fmt: skip
    drx: Annotated[
        str | None,
        _short("DRX and RRC states of UEs: off, a name of `ccu list drx`, or a file.", as_it_is,
               "boolean", "string", "object", unset=OFF, example="nsa-low-band"),
    ] = None  # fmt: skip
    handover: Annotated[
        str | None,
        _short("Handover between the scenario's cells: a3, cho, daps, ltm or off.", read_handover,
               "string", "object", "boolean", unset="a3", example="cho"),
    ] = None  # fmt: skip
    neighbour_load: Annotated[
        str | None,
        _short("Share of resources in which each neighbour cell sends, which interferes.",
               read_load, "number", "string", unset="0", example="0.5"),
    ] = None  # fmt: skip


SHORT = {one.key: one for one in written(ShortForms)}
_MEANS = {key: f"{RADIO}.{key}" for key in SHORT} | {"carriers": f"{RADIO}.secondary"}
_MEANS |= {f"{RADIO}.{field}": field for field in FIELDS}


def one_key_each(
    given: Mapping[str, Any], places: Places, preset: Preset
) -> tuple[Written, dict[str, Where]]:
    """Return what one source says, such as a file, with one key for each value of its radio.

    Keys beside a preset are stronger than it. Raises RefusedError.
    """
    values, found_at = _inside(given.get(RADIO), places, preset)
    from_preset = isinstance(given.get(RADIO), str)
    problems: list[Problem] = []
    for key, value in given.items():
        name = _MEANS.get(key, key)
        if key == RADIO or (key in SHORT and value is None):
            continue
        where = places.get(key, Where(key=key))
        if name in values and not from_preset:
            fix = "leave one of them out"
            problems.append(Problem(f"is given as {key} too", fix, found_at[name]))
        try:
            read = SHORT[key].option.read if key in SHORT else None
            values[name] = read(value) if read else value
        except InvalidValue as error:
            problems += error.at(where)
        found_at[name] = where
    if problems:
        raise RefusedError(problems)
    _expand_sleep(values, found_at, preset)
    return values, {key: at for key, at in places.items() if key not in found_at} | found_at


def _expand_sleep(values: Written, found_at: dict[str, Where], preset: Preset) -> None:
    """Replace a word for DRX, `off` or a preset, by the keys that it means.

    Raises RefusedError.
    """
    name = values.get(_SLEEP_KEYS[0])
    if name is False or name == OFF:  # YAML 1.1 reads the word as False.
        values |= dict.fromkeys(_SLEEP_KEYS)
        found_at.setdefault(_SLEEP_KEYS[1], found_at[_SLEEP_KEYS[0]])
    elif isinstance(name, str):
        where = found_at[_SLEEP_KEYS[0]]
        del values[_SLEEP_KEYS[0]]
        own, places = _read(preset, DRX, name, where)
        for key in set(_SLEEP_KEYS) - set(values):  # A setting replaces another one as a whole.
            inside = key.removeprefix(f"{RADIO}.")
            values[key] = own.get(inside)
            found_at[key] = places.get(inside, where)
            found_at |= {path: at for path, at in places.items() if path.startswith(f"{key}.")}


def _read(preset: Preset, kind: str, name: str, where: Where) -> tuple[Written, Places]:
    """Return the keys of a preset. Raises RefusedError, at `where` if no such preset exists."""
    try:
        return preset(kind, name)
    except RefusedError as error:
        raise RefusedError(
            one if one.where.file else one.at(where) for one in error.problems
        ) from None


def _inside(radio: object, places: Places, preset: Preset) -> tuple[Written, dict[str, Where]]:
    """Return the values of the key `radio`, a preset or a mapping, and their places."""
    where = places.get(RADIO, Where(key=RADIO))
    if radio is None:
        return {}, {}
    if isinstance(radio, str):
        values, found_at = _read(preset, RADIO, radio, where)
        found_at = {key: at for key, at in found_at.items() if "." not in key}
    elif isinstance(radio, Mapping):
        values = {str(key): value for key, value in radio.items()}
        found_at = {
            key: places.get(f"{RADIO}.{key}", Where(key=key).inside(where)) for key in values
        }
    else:
        fix = "write a name of `ccu list radios`, a file, or keys of docs/link-config.md"
        raise RefusedError(Problem(f"is {radio!r}", fix, where))
    names = {key: key if key in FIELDS else f"{RADIO}.{key}" for key in values}
    return (
        {names[key]: value for key, value in values.items()},
        {names[key]: found_at[key] for key in values},
    )


def gathered(values: Mapping[str, Any]) -> Written:
    """Return the values with the keys `radio.…` in one mapping, as an experiment has them."""
    inside = f"{RADIO}."
    radio = {
        key.removeprefix(inside): value
        for key, value in values.items()
        if inside in key and value is not None
    }
    others = {key: value for key, value in values.items() if inside not in key}
    return others | ({RADIO: radio} if radio else {})
