# SPDX-License-Identifier: Apache-2.0
"""What the testbed phone needs, and whether the phone is fit; changes nothing."""

from __future__ import annotations

from ccu.doctor import Finding, program
from ccu.errors import Refused
from ccu.experiment import Phone
from ccu.phone import adb, survey
from ccu.testbeds.phone import server_address


def examine(settings: Phone) -> list[Finding]:
    """adb, the phone, its radio, and this machine's address."""
    try:
        server = server_address(settings)
    except Refused as refusal:
        return [program("adb"), _refused("address", refusal)]
    address = Finding("address", True, f"{server.reached_at} at {server.interface}")
    if not settings.adb:
        return [address]
    if not (found := program("adb")).ok:
        return [found, address]
    try:
        phone = adb.chosen(settings.serial)
        known = survey.describe(phone)
    except Refused as refusal:
        return [found, address, _refused("phone", refusal)]
    about = f"{known['model'] or 'a phone'}, Android {known['android'] or '?'} ({phone.serial})"
    here = [found, address, Finding("phone", True, about)]
    try:
        radio = survey.check_radio(phone, server.reached_at)
    except Refused as refusal:
        return [*here, _refused("radio", refusal)]
    return [
        *here,
        Finding("radio", True, f"{radio['interface']}, {radio['address'] or 'no address'}"),
    ]


def _refused(name: str, refusal: Refused) -> Finding:
    what, _, mend = str(refusal).removeprefix("--testbed phone: ").partition("; ")
    return Finding(name, False, what, mend)
