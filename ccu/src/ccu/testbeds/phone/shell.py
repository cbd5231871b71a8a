# SPDX-License-Identifier: Apache-2.0
"""The shell on the phone, by adb or by ssh to Termux."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import Protocol

LOOK_S = 20.0
"""The timeout of a command that a phone answers at once."""


@dataclass(frozen=True)
class ShellAnswer:
    """The answer of a command on the phone."""

    code: int
    text: str


class Shell(Protocol):
    """A shell on the phone: `ccu.testbeds.phone.adb.Adb` or `ccu.testbeds.phone.ssh.Ssh`."""

    serial: str
    """The phone's name: adb's serial number, or ssh's host and port."""
    is_app: bool
    """True if its commands have an app's rights, not those of Android's own shell."""

    def command(self, script: str) -> list[str]:
        """Return the command that runs a script in the phone's shell, with the script's exit
        code."""
        ...

    def ask(self, script: str, timeout_s: float = LOOK_S) -> ShellAnswer:
        """Return the answer of a short script. Raises RefusedError if the phone does not answer."""
        ...


def answer(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a command of `Shell.command` until it ends. Raises subprocess.TimeoutExpired."""
    return subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=timeout_s,
    )
