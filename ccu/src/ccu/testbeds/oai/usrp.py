# SPDX-License-Identifier: Apache-2.0
"""The address of a USRP in OpenAirInterface's options, and the carriers that it supports."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ccu.testbeds.oai.carrier import PRB_HZ, Carrier
from ddu.console.problems import invalid, refusal

_B210_BANDWIDTH_HZ = 56e6  # Ettus: the AD9361's widest filter
_X310_CLOCK_HZ = 184_320_000
_X310_BANDWIDTH_HZ = 160e6  # with a UBX-160


_EXAMPLES = "b210, b210:serial=A+serial=B or x310:addr=192.168.40.2+addr=192.168.50.2"


@dataclass(frozen=True)
class Usrp:
    """Two radios of a model: `address` is the gNB's in UHD's notation (serial=… or addr=…)."""

    model: str
    address: str
    ue_address: str = ""


def parse(text: object) -> Usrp:
    """Parse `b210`, `b210:serial=A+serial=B` or `x310:addr=A+addr=B`: the gNB's radio, then the
    UE's.

    Raises InvalidValue.
    """
    model, colon, addresses = str(text).partition(":")
    address, plus, ue_address = addresses.partition("+")
    if model not in ("b210", "x310") or (colon and not address):
        raise invalid(f"{text!r} is not a USRP", f"write {_EXAMPLES}")
    if not re.fullmatch(r"[A-Za-z0-9_.,=+-]*", addresses):
        raise invalid(f"{text!r}: an address has letters, digits and = , . - only")
    if model == "x310" and "addr=" not in address:
        raise invalid(f"{text!r}: an X310 needs an address", f"write {_EXAMPLES}")
    if colon and not (plus and ue_address):
        raise invalid(f"{text!r}: gNB and UE need a radio each", f"write {_EXAMPLES}")
    return Usrp(model, address, ue_address)


def check_carrier(usrp: Usrp, carrier: Carrier) -> None:
    """Raise RefusedError if the radio lacks the bandwidth or the sampling rate."""
    width_hz = carrier.prb * PRB_HZ
    limit_hz = _B210_BANDWIDTH_HZ if usrp.model == "b210" else _X310_BANDWIDTH_HZ
    if width_hz > limit_hz:
        raise refusal(
            f"{carrier.prb} PRB are {width_hz / 1000000.0:.1f} MHz wide, and a "
            f"{usrp.model.upper()} does {limit_hz / 1000000.0:.0f} MHz",
            "choose fewer PRB",
            key="prb",
        )
    if usrp.model == "x310" and _X310_CLOCK_HZ % carrier.sample_rate_hz:
        raise refusal(
            f"{carrier.prb} PRB need {carrier.sample_rate_hz / 1000000.0:g} MS/s, which an "
            f"X310 cannot divide from its {_X310_CLOCK_HZ / 1000000.0:g} MHz clock",
            "choose 162 PRB or fewer",
            key="prb",
        )
