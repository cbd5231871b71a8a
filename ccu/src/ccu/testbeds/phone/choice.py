# SPDX-License-Identifier: Apache-2.0
"""The selection of an experiment's phone, and of the program that reaches it."""

from __future__ import annotations

from ccu.testbeds.phone import adb, ssh
from ccu.testbeds.phone.options import PhoneOptions
from ccu.testbeds.phone.shell import Shell
from ddu.console.problems import refusal


def chosen(settings: PhoneOptions) -> Shell:
    """Return the phone. Raises RefusedError with a fix unless there is exactly one."""
    if settings.ssh is not None:
        return ssh.Ssh(settings.ssh)
    if not settings.adb:
        raise refusal("there is no connection to the phone", key="adb")
    return adb.chosen(settings.serial)
