# SPDX-License-Identifier: Apache-2.0
"""One phone by ssh to Termux's sshd, with the user's own keys and configuration.

CCU_SSH replaces the command `ssh`, as for `--server`. What is run there has an app's rights: it
makes traffic, and reads the radio by Termux:API; what Android keeps from apps stays unknown.
"""

from __future__ import annotations

import os
import shlex
import subprocess

from ccu.host import programs
from ccu.testbeds.phone.address import host_and_port
from ccu.testbeds.phone.shell import LOOK_S, Said, answer
from testbed_console.problems import refusal

_USUAL_PORT = 8022  # of Termux's sshd, which may not have 22
_CONNECT_S = 15
_CODE_OF_SSH = 255
# Android's own programs (nc, getprop) beside Termux's.
_PATH = "PATH=$PATH:/system/bin"


class Ssh:
    """One phone, by `HOST[:PORT]` or `USER@HOST[:PORT]`."""

    is_app = True

    def __init__(self, target: str) -> None:
        """Raises RefusedError for what names no host."""
        if target.startswith("-"):
            raise refusal(f"{target!r} is no host", "write for example phone:8022", key="phone_ssh")
        user, at, rest = target.rpartition("@")
        try:
            host, port = host_and_port(rest, _USUAL_PORT)
        except ValueError as error:
            raise refusal(str(error), "write for example phone:8022", key="phone_ssh") from None
        self.serial = target
        self._host, self._port = f"{user}{at}{host}", port
        self._ssh = shlex.split(os.environ.get("CCU_SSH", "")) or [programs.require("ssh")]

    def command(self, script: str) -> list[str]:
        """See `ccu.testbeds.phone.shell.Shell`."""
        limits = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}"]
        limits += ["-o", "ServerAliveInterval=5", "-T", "-p", str(self._port)]
        return [*self._ssh, *limits, "--", self._host, f"{_PATH}; {script}"]

    def ask(self, script: str, timeout_s: float = LOOK_S) -> Said:
        """See `ccu.testbeds.phone.shell.Shell`."""
        try:
            said = answer(self.command(script), timeout_s)
        except subprocess.TimeoutExpired:
            raise refusal(
                f"{self.serial} does not answer", "is sshd running?", key="phone_ssh"
            ) from None
        if said.returncode == _CODE_OF_SSH:
            why = (said.stderr.strip().splitlines() or ["no word of why"])[-1]
            raise refusal(
                f"{self.serial} is not reached: {why}",
                f"start `sshd` in Termux, and try: ssh -p {self._port} {shlex.quote(self._host)}",
                key="phone_ssh",
            )
        return Said(said.returncode, said.stdout, said.stderr.strip())
