# SPDX-License-Identifier: Apache-2.0
"""The keys and flags by which people write an experiment."""

from __future__ import annotations

from ccu.spec import radio
from ccu.spec.experiment import Experiment
from ccu.spec.fields import CC
from ccu.spec.option import Written, written
from ccu.spec.testbed import every_options
from ccu.spec.testbed import keys as option_keys


def options() -> list[Written]:
    """Return the options of every experiment, short forms among them, in order."""
    declared = [Written("cc", Experiment.model_fields["flows"], CC)]
    for one in written(Experiment):
        declared += [one, *radio.SHORT.values()] if one.key == radio.RADIO else [one]
    return declared


def keys() -> frozenset[str]:
    """Return all that people may write of an experiment."""
    testbeds = every_options()
    sections = {one.section for one in testbeds if one.section}
    of_testbeds = {key for one in testbeds for key in option_keys(one)}
    of_all = {one.key for one in options()}
    return frozenset({*Experiment.model_fields, *of_all, *of_testbeds, *sections})


def flag_keys() -> dict[str, str]:
    """Return the key that each flag of `ccu run` sets."""
    of_testbeds = [one for model in every_options() for one in written(model)]
    return {flag: one.key for one in [*of_testbeds, *options()] for flag in one.flags}


def flag_of(key: str) -> str:
    """Return the flag that sets the key, or the field of this name; the key if none does."""
    flags = {of: flag for flag, of in reversed(flag_keys().items())}
    names = {one.name: one.key for one in written(Experiment)}
    return flags.get(names.get(key, key), key)
