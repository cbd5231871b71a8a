# SPDX-License-Identifier: Apache-2.0
"""Messages about a start that failed. The lines were printed by Open5GS 2.7.6 and a real UE."""

from __future__ import annotations

import pytest

from ccu.testbeds.oai.symptoms import hints
from ddu.console.colours import uncoloured

NO_SUBSCRIBER = """\
[udr] WARNING: [imsi-208990100001100] Cannot find SUPI in DB (../src/udr/nudr-handler.c:68)
11/23 04:50:14.203: [udr] WARNING: [imsi-208990100001100] Cannot find SUPI in DB
[amf] WARNING: [suci-0-208-99-0000-0-0-0100001100] Registration reject [7]
30653.581941 [MAC]    W [UE 0] Got no response: exceeded RA window
"""
OTHER_KEY = """\
[gmm] ERROR: [suci-0-208-99-0000-0-0-0100001100] MAC failure (../src/amf/gmm-handler.c:952)
[amf] WARNING: [suci-0-208-99-0000-0-0-0100001100] Authentication reject (nas-path.c:531)
"""
OTHER_DNN = """\
[imsi-208990100001100] Ue requested DNN "oai" Not Supported OR Not Subscribed in the Slice
"""


@pytest.mark.parametrize(
    ("log", "shown", "meaning"),
    [
        (NO_SUBSCRIBER, 1, "no such subscriber"),
        (NO_SUBSCRIBER.replace("SUPI", "…"), 2, "the core refuses the UE"),
        (OTHER_KEY, 1, "different keys"),
        (OTHER_DNN, 0, "no session of this DNN"),
    ],
)
def test_a_refused_ue_is_explained_by_the_line_of_the_core(
    log: str, shown: int, meaning: str
) -> None:
    line, explanation = hints(log)
    assert line == log.splitlines()[shown]
    assert meaning in explanation


def test_a_log_without_a_known_cause_tells_nothing() -> None:
    assert hints("30653.5 [PHY]    A Initial sync successful, PCI: 0\n") == []


def test_colours_are_left_out() -> None:
    printed = (
        "\x1b[32m11/23 04:12:18.866\x1b[0m: [\x1b[33mdbi\x1b[0m] \x1b[1;36mWARNING\x1b[0m: Failed"
    )
    assert uncoloured(printed) == "11/23 04:12:18.866: [dbi] WARNING: Failed"
