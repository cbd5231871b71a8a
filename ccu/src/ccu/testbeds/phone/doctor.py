# SPDX-License-Identifier: Apache-2.0
"""The checks of the phone in `ccu doctor`."""

from __future__ import annotations

from ccu.host.findings import Finding, program, refused
from ccu.testbeds.phone import address, survey
from ccu.testbeds.phone.choice import chosen
from ccu.testbeds.phone.options import PhoneOptions
from ddu.console.problems import RefusedError


def examine(settings: PhoneOptions) -> list[Finding]:
    """Check adb, the phone, its radio and this machine's address. Changes nothing."""
    try:
        servers = address.candidates(settings)
    except RefusedError as error:
        return [program("adb"), *refused("address", error)]
    addresses = ", ".join(f"{one.reached_at} at {one.interface}" for one in servers)
    where = Finding("address", True, addresses)
    if not settings.has_shell:
        return [where]
    if not (client := program("ssh" if settings.ssh else "adb")).ok:
        return [client, where]
    try:
        phone = chosen(settings)
        known = survey.describe(phone)
    except RefusedError as error:
        return [client, where, *refused("phone", error)]
    about = f"{known['model'] or 'a phone'}, Android {known['android'] or '?'} ({phone.serial})"
    here = [client, where, Finding("phone", True, about)]
    try:
        radio = survey.first_reachable(phone, servers)[1]
    except RefusedError as error:
        return [*here, *refused("radio", error)]
    return [
        *here,
        Finding("radio", True, f"{radio['interface']}, {radio['address'] or 'no address'}"),
    ]
