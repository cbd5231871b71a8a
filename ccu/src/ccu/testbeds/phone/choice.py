# SPDX-License-Identifier: Apache-2.0
"""The phone that an experiment means, and the program that reaches it."""

from __future__ import annotations

from ccu.testbeds.phone import adb, ssh
from ccu.testbeds.phone.options import PhoneOptions
from ccu.testbeds.phone.shell import Shell
from testbed_console.problems import refusal


def chosen(settings: PhoneOptions) -> Shell:
    """Return the phone. Raises RefusedError with what to do if there is none, or not one."""
    if settings.ssh is not None:
        return ssh.Ssh(settings.ssh)
    if not settings.adb:
        raise refusal("there is no way to ask the phone anything", key="adb")
    return adb.chosen(settings.serial)
