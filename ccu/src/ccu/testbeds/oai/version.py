# SPDX-License-Identifier: Apache-2.0
"""The options of OpenAirInterface's RAN, by the week of its image's tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

from testbed_console.problems import InvalidValue, Problem

DEFAULT = "2026.w11"
OLDEST = "2023.w16"

_TAG = re.compile(r"(20\d\d)\.w(\d\d)")
_SA_IS_DEFAULT = (2024, 45)
# "rfsimulator" became a list during 2025; libconfig ignores the wrong form, yaml-cpp crashes on it.
# The exact week is unknown: from this one on, the list is assumed.
_RFSIM_IS_A_LIST = (2025, 31)
_AMF_ONE_ADDRESS = (2024, 1)
# A missing module may prevent the gNB's start: it is requested only where it certainly exists.
_O1 = (2024, 1)


@dataclass(frozen=True)
class Options:
    """The notation of the options of one version."""

    sa_flag: bool
    """True if `--sa` is needed; later it is the default, and the option does not exist."""
    rfsim_list: bool
    """True if `rfsimulator` is a list: `--rfsimulator.[0].serveraddr`."""
    legacy_amf: bool
    """True if the AMF's entry has `ipv6`, `active` and `preference`, and named interfaces."""

    gnb_telnet: str
    """The modules of the gNB's telnet server besides the built-in ones."""

    @property
    def rfsim_prefix(self) -> str:
        return "--rfsimulator.[0]." if self.rfsim_list else "--rfsimulator."


def week(tag: str) -> tuple[int, int] | None:
    """Return (year, week) of a tag such as 2024.w45; None for names without a date, as develop.

    Raises InvalidValue for an invalid week, or one older than the oldest supported.
    """
    match = _TAG.fullmatch(tag)
    if match is None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", tag):
            rule = f"{tag!r} is not an image tag"
            raise InvalidValue(Problem(rule, f"write for example {DEFAULT}"))
        return None
    year, number = int(match[1]), int(match[2])
    if not 1 <= number <= 53:
        rule = f"{tag!r}: a year has no week {number}"
        raise InvalidValue(Problem(rule, f"write for example {DEFAULT}"))
    oldest = _TAG.fullmatch(OLDEST)
    assert oldest is not None
    if (year, number) < (int(oldest[1]), int(oldest[2])):
        rule = f"{tag!r} is older than {OLDEST}, the oldest supported version"
        raise InvalidValue(Problem(rule))
    return year, number


def options(tag: str) -> Options:
    """Return the options of the image `tag`; a tag without a date counts as the newest."""
    at = week(tag) or (9999, 1)
    return Options(
        sa_flag=at < _SA_IS_DEFAULT,
        rfsim_list=at >= _RFSIM_IS_A_LIST,
        legacy_amf=at < _AMF_ONE_ADDRESS,
        gnb_telnet="ci,o1" if at >= _O1 else "ci",
    )
