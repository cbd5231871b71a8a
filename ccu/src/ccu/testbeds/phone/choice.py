# SPDX-License-Identifier: Apache-2.0
"""The phone that an experiment means, and the program that reaches it."""

from __future__ import annotations

from ccu.spec.errors import Refused
from ccu.testbeds.phone import adb, ssh
from ccu.testbeds.phone.options import PhoneOptions
from ccu.testbeds.phone.shell import Shell


def chosen(settings: PhoneOptions) -> Shell:
    """Return the phone. Raises Refused with what to do if there is none, or not one."""
    if settings.ssh is not None:
        return ssh.Ssh(settings.ssh)
    if not settings.adb:
        raise Refused("--no-adb: there is no way to ask the phone anything")
    return adb.chosen(settings.serial)
