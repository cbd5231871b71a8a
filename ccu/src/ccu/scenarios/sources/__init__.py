# SPDX-License-Identifier: Apache-2.0
"""The formats that scenarios are imported from. To add one, add a reader and a line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from ccu.scenarios.sources import (
    android,
    drive,
    lumos5g,
    mahimahi,
    named_columns,
    oai,
    quadriga,
    seconds_mbps,
    sionna,
    taps,
    ucc5g,
)
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions
from ddu.console.problems import Problem, RefusedError, Where

Kind = Literal["radio", "capacity"]


class Format(NamedTuple):
    summary: str
    read: Callable[[Path, ImportOptions], ImportedScenario]
    """Read the file. Raises RefusedError with file, line, rule and fix."""
    kinds: tuple[Kind, ...]
    """The kinds of content of its files, the usual one first."""
    options: frozenset[str] = frozenset()
    """The optional fields of ImportOptions that it uses, except `kind`."""


_RATES: tuple[Kind, ...] = ("capacity",)
_RADIO: tuple[Kind, ...] = ("radio",)

FORMATS: dict[str, Format] = {
    "mahimahi": Format(
        "a trace of delivery opportunities: one integer in ms per line",
        mahimahi.read,
        _RATES,
        frozenset({"ul"}),
    ),
    "csv": Format(
        "a CSV with a line of names: a time, and rates (dl_mbps …) or rsrp_dbm and sinr_db",
        named_columns.read,
        ("radio", "capacity"),
    ),
    "seconds-mbps": Format(
        "lines of `second Mbit/s`", seconds_mbps.read, _RATES, frozenset({"ul"})
    ),
    "lumos5g": Format(
        "the CSV of Lumos5G: throughput, or RSRP and SINR, of one run",
        lumos5g.read,
        ("capacity", "radio"),
        frozenset({"run"}),
    ),
    "ucc5g": Format(
        "a CSV of UCC's 5G dataset: RSRP and SNR, or bit rates", ucc5g.read, ("radio", "capacity")
    ),
    "drive": Format(
        "a CSV of a drive's handovers: time, active interface, type", drive.read, _RADIO
    ),
    "taps": Format(
        "CSV of 1 to 4 complex taps over time, as of channel emulators", taps.read, _RADIO
    ),
    "sionna": Format(
        "arrays of paths.cir() of Sionna RT in numpy's .npz",
        sionna.read,
        _RADIO,
        frozenset({"period", "run"}),
    ),
    "quadriga": Format(
        "coeff and delay of QuaDRiGa's qd_channel in a MAT file",
        quadriga.read,
        _RADIO,
        frozenset({"period"}),
    ),
    "oai": Format("a finished run, or a log of OpenAirInterface's gNB", oai.read, _RADIO),
    "android": Format(
        "`dumpsys telephony.registry` of a phone, with timestamps",
        android.read,
        _RADIO,
        frozenset({"period"}),
    ),
}


def check_options(form: str, options: ImportOptions) -> None:
    """Raise RefusedError for each option that has no meaning for the format."""
    ours = FORMATS[form]
    given = {"run": options.run, "ul": options.ul, "period": options.period_s}
    problems = []
    if options.kind is not None and options.kind not in ours.kinds:
        problems.append(
            Problem(
                f"the format {form} holds {ours.kinds[0]} only, not {options.kind}",
                f"leave it out, or choose {_with(lambda one: options.kind in one.kinds)}",
                Where(key="--as"),
            )
        )
    for name, value in given.items():
        if value is not None and name not in ours.options:
            users = _with(lambda one, name=name: name in one.options)  # type: ignore[misc]
            problems.append(
                Problem(
                    f"does not apply to the format {form}",
                    f"leave it out (it is for {users})",
                    Where(key=f"--{name}"),
                )
            )
    if problems:
        raise RefusedError(problems)


def _with(has_it: Callable[[Format], bool]) -> str:
    return ", ".join(name for name, one in FORMATS.items() if has_it(one))


__all__ = ["FORMATS", "Format", "ImportOptions", "ImportedScenario", "check_options"]
