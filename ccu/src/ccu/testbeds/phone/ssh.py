# SPDX-License-Identifier: Apache-2.0
"""The access to a phone by ssh to Termux's sshd, with the user's keys and configuration.

CCU_SSH replaces the command `ssh`, as for `--server`. Commands have an app's rights: they generate
traffic, and read the radio by Termux:API; values that Android denies to apps are unknown.
"""

from __future__ import annotations

import os
import shlex
import subprocess

from ccu.host import programs
from ccu.testbeds.phone.address import host_and_port
from ccu.testbeds.phone.shell import LOOK_S, ShellAnswer, answer
from ddu.console.problems import refusal

_USUAL_PORT = 8022  # Termux's sshd cannot use port 22
_CONNECT_S = 15
_CODE_OF_SSH = 255
# Adds Android's own programs (nc, getprop) to Termux's.
_PATH = "PATH=$PATH:/system/bin"


class Ssh:
    """A phone, by `HOST[:PORT]` or `USER@HOST[:PORT]`."""

    is_app = True

    def __init__(self, target: str) -> None:
        """Parse the target. Raises RefusedError if it is not a host."""
        if target.startswith("-"):
            raise refusal(
                f"{target!r} is not a host", "write for example phone:8022", key="phone_ssh"
            )
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

    def ask(self, script: str, timeout_s: float = LOOK_S) -> ShellAnswer:
        """See `ccu.testbeds.phone.shell.Shell`."""
        try:
            completed = answer(self.command(script), timeout_s)
        except subprocess.TimeoutExpired:
            raise refusal(
                f"{self.serial} does not answer", "start `sshd` in Termux", key="phone_ssh"
            ) from None
        if completed.returncode == _CODE_OF_SSH:
            why = (completed.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise refusal(
                f"{self.serial} is not reachable: {why}",
                f"start `sshd` in Termux, and try: ssh -p {self._port} {shlex.quote(self._host)}",
                key="phone_ssh",
            )
        return ShellAnswer(completed.returncode, completed.stdout)
