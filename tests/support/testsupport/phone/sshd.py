# SPDX-License-Identifier: Apache-2.0
"""A real sshd: that of a far server, or of Termux on the phone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testsupport.ports import free_port
from testsupport.waiting import until


@contextmanager
def sshd(folder: Path, namespace: str, address: str, environment: str) -> Iterator[str]:
    """A real one in a namespace, which lets root in; yields what CCU_SSH has to be for `far`."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("needs sshd: setup/system-packages test")
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    (folder / "allowed").write_text((folder / "user.pub").read_text())
    port = free_port()
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress {address}\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'allowed'}\nPermitRootLogin prohibit-password\n"
        f"StrictModes no\nUsePAM no\nPidFile none\nSetEnv {environment}\n"
    )
    (folder / "ssh_config").write_text(
        f"Host far\n  HostName {address}\n  Port {port}\n  User root\n"
        f"Host *\n  IdentityFile {folder / 'user'}\n  UserKnownHostsFile {folder / 'known'}\n"
        "  StrictHostKeyChecking no\n  LogLevel ERROR\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    command = ["ip", "netns", "exec", namespace, program, "-D", "-e", "-f"]
    log = folder / "log"
    daemon = subprocess.Popen([*command, str(folder / "sshd_config")], stderr=log.open("wb"))
    until(lambda: b"listening" in log.read_bytes())
    try:
        yield f"ssh -F {folder / 'ssh_config'}"
    finally:
        daemon.terminate()
        daemon.wait(600)
