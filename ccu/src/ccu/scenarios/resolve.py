# SPDX-License-Identifier: Apache-2.0
"""Experiments resolved with the path and link settings that their scenario fixes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ccu import scenarios
from ccu.host import programs
from ccu.scenarios import radios
from ccu.spec import resolve as spec
from ccu.spec.experiment import Experiment
from ccu.spec.places import Places
from ccu.spec.radio import one_key_each
from ddu.console.problems import RefusedError, Where


def resolve(flags: Mapping[str, Any], file: Path | None = None) -> Experiment:
    """The experiment that `flags` (None: not given) and the YAML file ask for; flags win.

    Raises RefusedError.
    """
    return resolve_written(*collect(flags, file))


def resolve_arguments(arguments: Mapping[str, Any]) -> Experiment:
    """Return the experiment of a Python function's arguments, by which problems are named.

    Raises RefusedError.
    """
    given = {key: value for key, value in arguments.items() if value is not None}
    places = {key: Where(key=key) for key in given}
    return resolve_written(*one_key_each(given, places, radios.read))


def collect(flags: Mapping[str, Any], file: Path | None) -> tuple[dict[str, Any], dict[str, Where]]:
    """See `ccu.spec.resolve.collect`."""
    return spec.collect(flags, file, radios.read)


def resolve_written(
    written: Mapping[str, Any], found_at: Places, elsewhere: str | None = None
) -> Experiment:
    """See `ccu.spec.resolve.resolve_written`."""
    return spec.resolve_written(written, found_at, _fixed, elsewhere)


def _fixed(name: str, taken: set[str]) -> dict[str, tuple[Any, Where]]:
    """Return the fields that the scenario fixes and the user does not set."""
    try:
        file = scenarios.locate(name)
    except RefusedError:
        return {}  # Reported together with all other problems, before anything starts.
    if programs.find("nr-link") is None:
        return {}  # What needs it refuses.
    settings = scenarios.settings(file, taken)
    return {key: (value, Where(str(file), key=part)) for key, (value, part) in settings.items()}
