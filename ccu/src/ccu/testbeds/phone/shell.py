# SPDX-License-Identifier: Apache-2.0
"""A shell on the phone, by whatever way leads there: adb, or ssh to Termux."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import Protocol

LOOK_S = 20.0
"""For a question that a phone answers at once."""


@dataclass(frozen=True)
class Said:
    """What a command on the phone said."""

    code: int
    text: str
    trouble: str


class Shell(Protocol):
    """See `ccu.testbeds.phone.adb.Adb`, `ccu.testbeds.phone.ssh.Ssh`."""

    serial: str
    """What names the phone: adb's serial number, or ssh's host and port."""
    is_app: bool
    """Its commands have an app's rights, not those of Android's own shell."""

    def command(self, script: str) -> list[str]:
        """The command that runs a script of the phone's shell; it ends with the script's code."""
        ...

    def ask(self, script: str, timeout_s: float = LOOK_S) -> Said:
        """What a short script says. Raises RefusedError if the phone does not answer."""
        ...


def answer(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs one of `Shell.command` to its end. Raises subprocess.TimeoutExpired."""
    return subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=timeout_s,
    )
