# SPDX-License-Identifier: Apache-2.0
"""The parameters of Reminis as users write them, and as either implementation takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ccu.spec import units
from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

_DTT_MAX_US = 10_000_000
_FACTOR_MAX = 100.0
_SEED_MAX = 2**32 - 1

_SWITCHES = {  # NAME=VALUE: the loader's switch, the module's parameter and value
    ("pacing", "off"): ("--no-pacing", "pacing", "N"),
    ("nde", "off"): ("--no-nde", "no_nde", "Y"),
    ("nde", "mean"): ("--nde-mean", "nde_mean", "Y"),
    ("ps", "off"): ("--no-ps", "no_ps", "Y"),
    ("cm", "off"): ("--no-cm", "no_cm", "Y"),
    ("aimd", "off"): ("--no-aimd", "no_aimd", "Y"),
    ("ewma", "on"): ("--ewma", "ewma", "Y"),
    ("fresh_rtt", "off"): ("--stale-rtt", "stale_rtt", "Y"),
    ("jump_to_4", "on"): ("--jump-to-4", "jump_to_4", "Y"),
    ("mean_base", "on"): ("--mean-base", "mean_base", "Y"),
    ("one_way", "on"): ("--one-way", "one_way", "Y"),
    ("nde", "bounded"): ("--nde-bounded", "nde_bounded", "Y"),
    ("cm", "drain"): ("--cm-drain", "cm_drain", "Y"),
    ("new_path", "on"): ("--new-path", "new_path", "Y"),
}
_PROFILES: dict[str, dict[str, str]] = {
    "paper": {},
    "nr": {"mean_base": "on", "one_way": "on", "nde": "bounded", "cm": "drain"},
}


def check(params: Mapping[str, str]) -> None:
    """Raise RefusedError at the first that Reminis does not have."""
    for name, value in params.items():
        if name == "profile":
            _profile(value)
        elif name in _VALUES:
            _VALUES[name](value)
        elif (name, value) not in _SWITCHES and not _is_default(name, value):
            switches = ", ".join(f"{key}={choice}" for key, choice in _SWITCHES)
            raise refusal(
                f"reminis has no {name}={value}",
                f"write dtt=30ms, dtt_factor=1.5, seed=N, profile=nr, or one of {switches}",
                key="cc_params",
            )


def of_experiment(experiment: Experiment) -> dict[str, str]:
    """Return the parameters with a seed: equal experiments draw the same random numbers."""
    return {"seed": str(experiment.seed % 2**32 or 1), **experiment.cc_params_of("reminis")}


def for_loader(params: Mapping[str, str]) -> list[str]:
    """Return the options of `reminis-bpf run`."""
    options = []
    for name, value in _expanded(params).items():
        if name == "dtt":
            options += ["--dtt", f"{_dtt_us(value)}us"]
        elif name in _VALUES:
            options += [f"--{name.replace('_', '-')}", value]
        elif (name, value) in _SWITCHES:
            options.append(_SWITCHES[name, value][0])
    return options


def for_module(params: Mapping[str, str]) -> dict[str, str]:
    """Return all of the module's parameters (/sys/module/tcp_reminis/parameters), those at their
    default included: a run does not depend on what was set before."""
    values = {"dtt_us": "default", "dtt_percent": "150"}
    for _, name, value in _SWITCHES.values():
        values[name] = "N" if value == "Y" else "Y"
    for name, value in _expanded(params).items():
        if name == "dtt":
            values["dtt_us"] = str(_dtt_us(value))
        elif name == "dtt_factor":
            values["dtt_percent"] = str(round(_factor(value) * 100))
        elif name == "seed":
            values["seed"] = str(_seed(value))
        elif (name, value) in _SWITCHES:
            _, parameter, setting = _SWITCHES[name, value]
            values[parameter] = setting
    return values


def changed(before: Experiment, after: Experiment) -> dict[str, str]:
    """Return the module's parameters that have another value after than before."""
    old = for_module(of_experiment(before))
    new = for_module(of_experiment(after))
    return {name: value for name, value in new.items() if old.get(name) != value}


def _profile(name: str) -> dict[str, str]:
    if name not in _PROFILES:
        raise refusal(
            f"reminis has no profile={name}",
            f"choose one of {', '.join(_PROFILES)}",
            key="cc_params",
        )
    return _PROFILES[name]


def _expanded(params: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with those of the profile, which each given one takes precedence of."""
    given = dict(params)
    return {**_profile(given.pop("profile", "paper")), **given}


def _is_default(name: str, value: str) -> bool:
    """Return whether this is the default, such as `nde=on`."""
    choices = {choice for key, choice in _SWITCHES if key == name}
    return bool(choices) and value == ("off" if choices == {"on"} else "on")


def _dtt_us(text: str) -> int:
    try:
        dtt_us = round(units.seconds(text) * 1e6)
    except ValueError:
        raise refusal(
            f"dtt={text}: not a time with a unit", "write dtt=30ms", key="cc_params"
        ) from None
    if not 1 <= dtt_us <= _DTT_MAX_US:
        raise refusal(
            f"dtt={text}: a DTT is above 0 and at most 10s (one below mRTT is raised to it)",
            "write for example dtt=30ms",
            key="cc_params",
        )
    return dtt_us


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 < factor <= _FACTOR_MAX:
        raise refusal(
            f"dtt_factor={text}: the DTT as a multiple of mRTT, above 1 and at most 100",
            "write for example dtt_factor=1.5",
            key="cc_params",
        )
    return factor


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _SEED_MAX):
        rule = f"seed={text}: not a whole number from 1 to {_SEED_MAX}"
        raise refusal(rule, "write for example seed=7", key="cc_params")
    return int(text)


_VALUES: dict[str, Callable[[str], object]] = {
    "dtt": _dtt_us,
    "dtt_factor": _factor,
    "seed": _seed,
}
