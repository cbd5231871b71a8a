# SPDX-License-Identifier: Apache-2.0
"""`--server`: the phone here, ccu and the traffic on another machine, by a real sshd."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Street

ROOT = Path(__file__).parents[2]
RUN = ("run", "--testbed", "phone", "--cc", "cubic", "--duration", "3s")


@pytest.fixture
def ssh(street: Street, tmp_path: Path) -> Iterator[str]:
    """What CCU_SSH has to be for the host `far`."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/bin")
    if sshd is None:
        pytest.skip("needs sshd: setup/system-packages test")
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    (folder / "allowed").write_text((folder / "user.pub").read_text())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = f"{ROOT / '.venv/bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'allowed'}\nPermitRootLogin prohibit-password\n"
        f"StrictModes no\nUsePAM no\nPidFile none\nSetEnv PATH={path}\n"
    )
    (folder / "ssh_config").write_text(
        f"Host far\n  HostName 127.0.0.1\n  Port {port}\n  User root\n"
        f"  IdentityFile {folder / 'user'}\n  UserKnownHostsFile {folder / 'known'}\n"
        "  StrictHostKeyChecking no\n  LogLevel ERROR\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    command = ["ip", "netns", "exec", street.server, sshd, "-D", "-e", "-f"]
    daemon = subprocess.Popen(
        [*command, str(folder / "sshd_config")], stderr=(folder / "log").open("wb")
    )
    deadline = time.monotonic() + 10
    while b"listening" not in (folder / "log").read_bytes():
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.05)
    try:
        yield f"ssh -F {folder / 'ssh_config'}"
    finally:
        daemon.terminate()
        daemon.wait(10)


@pytest.mark.root
def test_the_run_is_done_there_and_comes_here(street: Street, ssh: str, tmp_path: Path) -> None:
    street.plug_in()
    output = tmp_path / "runs"
    os.environ["CCU_SSH"] = ssh
    try:
        far = ("--server", "far", "--output", str(output))
        ran = street.ccu(*RUN, *far)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (run,) = output.iterdir()
        told = json.loads((run / "run.json").read_text())
        assert told["status"] == "finished"
        assert told["flows"][0]["cc_read_back"] == "cubic"
        assert told["hosts"]["ue"]["model"] == "Test 5G"
        subprocess.run(street.command("ddu", "analyze", str(run)), check=True)
        refused = street.ccu(*RUN, *far, "--cc", "vegaz")
        assert refused.returncode == 2
        assert "vegaz" in refused.stdout
        nowhere = street.ccu(*RUN, "--server", "root@203.0.113.1:1")
        assert nowhere.returncode == 2
        assert "is not reached" in nowhere.stderr
    finally:
        del os.environ["CCU_SSH"]
    assert list(output.iterdir()) == [run]
