# SPDX-License-Identifier: Apache-2.0
"""The options of OpenAirInterface's RAN, by the week of its image's tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ddu.console.problems import invalid

DEFAULT = "2026.w11"
OLDEST = "2023.w16"

_TAG = re.compile(r"(20\d\d)\.w(\d\d)")
# The weeks below are those of OpenAirInterface's history: the first tag with the change.
_SA_IS_DEFAULT = (2024, 45)
# libconfig ignores the wrong form of "rfsimulator", yaml-cpp crashes on it.
_RFSIM_IS_A_LIST = (2026, 5)
_AMF_ONE_ADDRESS = (2024, 15)
# A missing module prevents the gNB's start.
_O1 = (2024, 50)
_ENTRYPOINT_ADDS_FILE = (2024, 40)
_ASKS_PRIORITY_IF_ALLOWED = (2024, 22)
_CHANNEL_PER_UE = (2025, 9)
# The UE's options that name the files of a gNB without a core.
_RECONFIGURATION_FILES = (2023, 33)


@dataclass(frozen=True)
class Options:
    """The notation of the options of one version."""

    sa_flag: bool
    """True if `--sa` is needed; later it is the default, and the option does not exist."""
    rfsim_list: bool
    """True if `rfsimulator` is a list: `--rfsimulator.[0].serveraddr`."""
    legacy_amf: bool
    """True if the AMF's entry has `ipv6`, `active` and `preference`, and named interfaces."""

    names_file: bool
    """True if the image's entrypoint does not add `-O FILE` itself."""
    needs_real_time: bool
    """True if the modems end where they may not have real-time priority; later ones ask for it only
    with the capability SYS_NICE."""
    channel_per_ue: bool
    """False if all UEs share `rfsimu_channel_ue0`."""
    without_core: bool
    """True if the UE can be given its configuration by files, as it needs without a core."""

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
            raise invalid(f"{tag!r} is not an image tag", f"write for example {DEFAULT}")
        return None
    year, number = int(match[1]), int(match[2])
    if not 1 <= number <= 53:
        raise invalid(f"{tag!r}: a year has no week {number}", f"write for example {DEFAULT}")
    oldest = _TAG.fullmatch(OLDEST)
    assert oldest is not None
    if (year, number) < (int(oldest[1]), int(oldest[2])):
        raise invalid(f"{tag!r} is older than {OLDEST}, the oldest supported version")
    return year, number


def options(tag: str) -> Options:
    """Return the options of the image `tag`; a tag without a date counts as the newest."""
    at = week(tag) or (9999, 1)
    return Options(
        sa_flag=at < _SA_IS_DEFAULT,
        rfsim_list=at >= _RFSIM_IS_A_LIST,
        legacy_amf=at < _AMF_ONE_ADDRESS,
        names_file=at < _ENTRYPOINT_ADDS_FILE,
        needs_real_time=at < _ASKS_PRIORITY_IF_ALLOWED,
        channel_per_ue=at >= _CHANNEL_PER_UE,
        without_core=at >= _RECONFIGURATION_FILES,
        gnb_telnet="ci,o1" if at >= _O1 else "ci",
    )
