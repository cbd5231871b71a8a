# SPDX-License-Identifier: Apache-2.0
"""What OpenAirInterface's RAN understands, by the week of its image's tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

from testbed_console.problems import InvalidValue, Problem

DEFAULT = "2026.w11"
OLDEST = "2023.w16"

_TAG = re.compile(r"(20\d\d)\.w(\d\d)")
_SA_IS_DEFAULT = (2024, 45)
# "rfsimulator" became a list during 2025; libconfig ignores the wrong form, yaml-cpp crashes on it.
# The week is not known for sure: from here on the list is assumed.
_RFSIM_IS_A_LIST = (2025, 31)
_AMF_ONE_ADDRESS = (2024, 1)
# A module that is not there may keep the gNB from starting: asked for only where it surely is.
_O1 = (2024, 1)


@dataclass(frozen=True)
class Options:
    """How one version spells what we ask of it."""

    sa_flag: bool
    """`--sa` has to be given; later it is the default, and the option is gone."""
    rfsim_list: bool
    """`--rfsimulator.[0].serveraddr` and a list in the file, not `--rfsimulator.serveraddr`."""
    legacy_amf: bool
    """The AMF's entry has `ipv6`, `active` and `preference`, and interfaces are named."""

    gnb_telnet: str
    """Modules of the gNB's telnet server beside those that are built in."""

    @property
    def rfsim_prefix(self) -> str:
        return "--rfsimulator.[0]." if self.rfsim_list else "--rfsimulator."


def week(tag: str) -> tuple[int, int] | None:
    """(year, week) of a tag such as 2024.w45; None for names without a date, such as develop.

    Raises InvalidValue for a week that is none, or older than what is known here.
    """
    found = _TAG.fullmatch(tag)
    if found is None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", tag):
            rule = f"{tag!r} is not an image tag"
            raise InvalidValue(Problem(rule, f"write for example {DEFAULT}"))
        return None
    year, number = int(found[1]), int(found[2])
    if not 1 <= number <= 53:
        rule = f"{tag!r}: a year has no week {number}"
        raise InvalidValue(Problem(rule, f"write for example {DEFAULT}"))
    oldest = _TAG.fullmatch(OLDEST)
    assert oldest is not None
    if (year, number) < (int(oldest[1]), int(oldest[2])):
        rule = f"{tag!r} is older than {OLDEST}, the first that is known here"
        raise InvalidValue(Problem(rule))
    return year, number


def options(tag: str) -> Options:
    """The options of the image `tag`; one without a date is taken for the newest."""
    at = week(tag) or (9999, 1)
    return Options(
        sa_flag=at < _SA_IS_DEFAULT,
        rfsim_list=at >= _RFSIM_IS_A_LIST,
        legacy_amf=at < _AMF_ONE_ADDRESS,
        gnb_telnet="ci,o1" if at >= _O1 else "ci",
    )
