# SPDX-License-Identifier: Apache-2.0
"""The keys and flags by which people write an experiment."""

from __future__ import annotations

from pydantic import BaseModel

from ccu.spec.experiment import Experiment
from ccu.spec.option import written
from ccu.spec.testbed import every_options
from ccu.spec.testbed import keys as option_keys


def keys() -> frozenset[str]:
    """Return all that people may write of an experiment."""
    options = every_options()
    sections = {one.section for one in options if one.section}
    of_testbeds = {key for one in options for key in option_keys(one)}
    of_all = {one.key for one in written(Experiment)}
    return frozenset({*Experiment.model_fields, *of_all, *of_testbeds, *sections, "cc"})


def flag_keys() -> dict[str, str]:
    """Return the key that each flag of `ccu run` sets."""
    models: list[type[BaseModel]] = [*every_options(), Experiment]
    return {"--cc": "cc"} | {
        flag: one.key for model in models for one in written(model) for flag in one.flags
    }


def flag_of(key: str) -> str:
    """Return the flag that sets the key, or the field of this name; the key if none does."""
    flags = {of: flag for flag, of in reversed(flag_keys().items())}
    names = {one.name: one.key for one in written(Experiment)}
    return flags.get(names.get(key, key), key)
