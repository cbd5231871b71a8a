# SPDX-License-Identifier: Apache-2.0
"""Flags derived from the options that fields declare (`ccu.spec.option`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any

import typer

from ccu.cli.completion import completion
from ccu.spec.keys import options
from ccu.spec.option import Option, Written, written
from ccu.spec.testbed import testbeds_with
from ccu.testbeds import Driver
from ddu.console.problems import refusal

Command = Callable[..., None]


def takes_flags(
    fields: Sequence[Written], drivers: Mapping[str, Driver], *, about_run: bool = False
) -> Callable[[Command], Command]:
    """Give a command the flags of `fields`, then its own, then the drivers' in panels of their own.

    Its first parameter is then what was given: values by the key of YAML. With `about_run`, the
    drivers' options that concern a run are among them, and other machines by the driver's flag.
    """
    common = [one for field in fields for one in _parameters(field, None)]
    of_drivers: dict[str, Parameter] = {}
    known, machines = list(fields), set()
    for driver in {driver.options: driver for driver in drivers.values()}.values():
        panel = driver.panel or f"With --testbed {' or '.join(testbeds_with(driver.options))}"
        wanted = [one for one in written(driver.options) if about_run or not one.option.about_run]
        for field in wanted:
            # Where drivers give a flag the same name, it is for the one that is chosen.
            for one in _parameters(field, panel):
                of_drivers.setdefault(one.name, one)
        known += wanted
        if about_run and (elsewhere := driver.elsewhere):
            machine = _parameter(str(elsewhere.flag), str, _help(elsewhere), panel)
            of_drivers.setdefault(machine.name, machine)
            machines.add(machine.name)

    def decorate(command: Command) -> Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def run(**given: Any) -> None:
            elsewhere = {name: given[name] for name in machines if given[name] is not None}
            command(_values(known, given) | elsewhere, **{one.name: given[one.name] for one in own})

        plain = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]
        parameters = [*common, *plain, *of_drivers.values()]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def experiment_options(*names: str) -> list[Written]:
    """Return the options of every experiment; with `names`, of these fields."""
    return [one for one in options() if not names or one.name in names]


def _parameters(field: Written, panel: str | None) -> list[Parameter]:
    """Return the flags of a field, as typer takes them."""
    if field.option.switches:
        return [
            _parameter(one.flag, bool, one.help or _help(field.option), panel)
            for one in field.option.switches
        ]
    if field.flag is None:
        return []
    # Numbers are text here, too: the experiment's rules say what is wrong with one.
    kind: Any = list[str] if field.option.pairs or field.option.repeats else str
    return [_parameter(field.flag, kind, _help(field.option, field.default), panel)]


def _parameter(flag: str, kind: Any, text: str, panel: str | None) -> Parameter:
    option = typer.Option(flag, help=text, rich_help_panel=panel, autocompletion=completion(flag))
    default = False if kind is bool else None
    annotation = Annotated[kind if kind is bool else kind | None, option]  # type: ignore[valid-type]
    return Parameter(_name(flag), Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _help(option: Option, default: str = "") -> str:
    text = option.help.removesuffix(".")
    if option.example:
        text += f" (example: {option.example})"
    if shown := default or option.unset:
        text += f" (default: {shown})"
    return f"{text}."


def _values(fields: Sequence[Written], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, by the key of YAML. Raises RefusedError."""
    values: dict[str, Any] = {}
    for field in fields:
        switches = [one for one in field.option.switches if given[_name(one.flag)]]
        if len(switches) > 1:
            first, second = (one.flag for one in switches[:2])
            raise refusal(f"{first} is given too", "give one of them", key=second)
        if switches:
            values[field.key] = switches[0].value
        elif field.flag and given[_name(field.flag)] is not None:
            value = given[_name(field.flag)]
            values[field.key] = (
                _pairs(field.flag, value) if field.option.pairs else None if value == [] else value
            )
    return values


def _name(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _pairs(flag: str, items: Sequence[str]) -> dict[str, str] | None:
    pairs = [item.partition("=") for item in items]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise refusal(
                f"{flag}: {name!r} does not have the form NAME=VALUE", "write for example dtt=30ms"
            )
    return {name: value for name, _, value in pairs} or None
