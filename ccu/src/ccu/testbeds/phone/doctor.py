# SPDX-License-Identifier: Apache-2.0
"""The phone's part of `ccu doctor`."""

from __future__ import annotations

from ccu.host.findings import Finding, program
from ccu.spec.errors import Refused
from ccu.testbeds.phone import address, survey
from ccu.testbeds.phone.choice import chosen
from ccu.testbeds.phone.options import PhoneOptions


def examine(settings: PhoneOptions) -> list[Finding]:
    """Look at adb, the phone, its radio and this machine's address; changes nothing."""
    try:
        servers = address.candidates(settings)
    except Refused as refusal:
        return [program("adb"), _refused("address", refusal)]
    told = ", ".join(f"{one.reached_at} at {one.interface}" for one in servers)
    where = Finding("address", True, told)
    if not settings.is_asked:
        return [where]
    if not (found := program("ssh" if settings.ssh else "adb")).ok:
        return [found, where]
    try:
        phone = chosen(settings)
        known = survey.describe(phone)
    except Refused as refusal:
        return [found, where, _refused("phone", refusal)]
    about = f"{known['model'] or 'a phone'}, Android {known['android'] or '?'} ({phone.serial})"
    here = [found, where, Finding("phone", True, about)]
    try:
        radio = survey.way_to_one_of(phone, servers)[1]
    except Refused as refusal:
        return [*here, _refused("radio", refusal)]
    return [
        *here,
        Finding("radio", True, f"{radio['interface']}, {radio['address'] or 'no address'}"),
    ]


def _refused(name: str, refusal: Refused) -> Finding:
    what, _, mend = str(refusal).removeprefix("--testbed phone: ").partition("; ")
    return Finding(name, False, what, mend)
