# SPDX-License-Identifier: Apache-2.0
"""A run whose server is another machine with ccu, reached by ssh: `--server HOST`.

The remote ccu executes the run: congestion control, sender, captures and socket samples are its
own. The phone stays here: ssh forwards adb's port. The run directory is copied back.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ccu.host import programs
from ccu.spec.errors import Interrupted, RunFailed
from ccu.spec.experiment import SCHEMA_VERSION, Experiment
from ccu.testbeds.phone.address import plain
from ccu.testbeds.phone.options import phone_options
from ddu.console.problems import RefusedError, refusal
from ddu.run import durable

_STAGE = "server"
_CONNECT_S = 20
_USUAL_ADB_PORT = 5037
_CODE_OF_SSH = 255
_CODES = {2: RefusedError, 130: Interrupted}
_NO_RUN = 9
"""The exit code of the copy's script if the remote ccu made no run directory."""


class _NotCopied(RunFailed):
    """The run stays on the server."""


class RemoteServer:
    """A server reached by ssh with the user's keys and configuration; CCU_SSH replaces `ssh`."""

    def __init__(self, host: str) -> None:
        if host.startswith("-"):
            raise refusal(
                f"{host!r} is not a host", "write for example user@server.example", key="--server"
            )
        self.host = _for_ssh(host)
        self._ssh = shlex.split(os.environ.get("CCU_SSH", "")) or [programs.require("ssh")]

    def command(self, script: str, *options: str) -> list[str]:
        limits = ["-o", f"ConnectTimeout={_CONNECT_S}", "-o", "ServerAliveInterval=10"]
        return [*self._ssh, *limits, *options, "--", self.host, script]

    def ask(self, script: str, given: str = "") -> str:
        """Return the output of a script there. Raises RefusedError if it cannot be run."""
        completed = subprocess.run(
            self.command(script), input=given, capture_output=True, text=True, errors="replace"
        )
        if completed.returncode == _CODE_OF_SSH:
            raise refusal(
                f"{self.host} is not reachable: {completed.stderr.strip()}",
                f"try: ssh {shlex.quote(self.host)}",
                key="--server",
            )
        if completed.returncode != 0:
            raise refusal(f"{self.host}: {completed.stderr.strip() or 'failed'}", key="--server")
        return completed.stdout


def _for_ssh(host: str) -> str:
    """Return the host for ssh, an IPv6 address without brackets."""
    user, at, name = host.rpartition("@")
    return host if "://" in host else f"{user}{at}{plain(name)}"


def run(experiment: Experiment, host: str, output: Path, dry_run: bool) -> Path | None:
    """Return the run's directory under `output`; None after a dry run.

    Raises RefusedError, RunFailed or Interrupted as the remote ccu did, which has printed the
    reason.
    """
    remote = RemoteServer(host)
    options = phone_options(experiment)
    with_adb = options.adb and not options.ssh
    _check(remote, with_adb)
    for sent in (signal.SIGTERM, signal.SIGHUP):  # As Ctrl-C: ssh ends, and the folder goes.
        signal.signal(sent, _interrupt)
    folder = remote.ask("umask 077; T=$(mktemp -d); cat > $T/run.json; echo $T", _plan(experiment))
    folder = folder.strip()
    try:
        code = _run_there(remote, folder, with_adb, dry_run)
        made = None if dry_run else _fetch(remote, folder, output)
    except _NotCopied:
        raise
    except BaseException:
        _remove(remote, folder)
        raise
    _remove(remote, folder)
    if code in _CODES:
        raise _CODES[code](f"--server: reported by {host}")
    if code != 0:
        where = f"; its incomplete directory is {made}" if made else ""
        raise RunFailed(_STAGE, f"the run on {host} failed{where}")
    return made


def _interrupt(number: int, _frame: object) -> NoReturn:
    raise Interrupted(f"interrupted by {signal.Signals(number).name}")


def _plan(experiment: Experiment) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, "experiment": experiment.record()})


def _check(remote: RemoteServer, with_adb: bool) -> None:
    """Check that both adbs have the same version: a client ends a server of another version."""
    there = remote.ask("command -v ccu >/dev/null && echo ccu; adb version 2>/dev/null | head -1")
    if not there.startswith("ccu\n"):
        raise refusal(
            f"{remote.host} has no ccu on its PATH", "run `make install` there", key="--server"
        )
    if not with_adb:
        return
    adb = programs.require("adb")
    subprocess.run([adb, "start-server"], capture_output=True, timeout=30)
    ours = programs.version("adb") or ""
    theirs = there.removeprefix("ccu\n").strip()
    if theirs != ours:
        raise refusal(
            f"{remote.host} has {theirs or 'no adb'}, this machine {ours}",
            "install the same on both, or --no-adb",
            key="--server",
        )


def _run_there(remote: RemoteServer, folder: str, with_adb: bool, dry_run: bool) -> int:
    words = ["ccu", "rerun", folder, "--output", f"{folder}/runs"]
    words += ["--dry-run"] if dry_run else []
    # With a terminal there, Ctrl-C and the end of the connection reach the remote ccu as signals.
    options = ["-tt"]
    if with_adb:
        port = 20_000 + secrets.randbelow(10_000)
        ours = os.environ.get("ANDROID_ADB_SERVER_PORT", str(_USUAL_ADB_PORT))
        options += ["-o", "ExitOnForwardFailure=yes"]
        options += ["-R", f"127.0.0.1:{port}:127.0.0.1:{ours}"]
        words = ["env", f"ANDROID_ADB_SERVER_PORT={port}", *words]
    return subprocess.run(remote.command(_as_root(shlex.join(words)), *options)).returncode


def _as_root(command: str) -> str:
    return f"if [ $(id -u) = 0 ]; then {command}; else sudo {command}; fi"


def _fetch(remote: RemoteServer, folder: str, output: Path) -> Path | None:
    """Copy the run directory here; return None if the remote ccu made none.

    Raises _NotCopied if the copy is not whole.
    """
    runs = f"{shlex.quote(folder)}/runs"
    send = ["sh", "-c", f"test -d {runs} || exit {_NO_RUN}; exec tar -C {runs} -cf - ."]
    output.mkdir(parents=True, exist_ok=True)
    # In a folder of its own: others make runs in `output` meanwhile.
    with durable.temporary_folder(output, ".copied-") as passing:
        return _copied(remote, send, passing, runs)


def _copied(remote: RemoteServer, send: Sequence[str], passing: Path, runs: str) -> Path | None:
    sending = subprocess.Popen(
        remote.command(_as_root(shlex.join(send))),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    unpack = ["tar", "-C", str(passing), "--no-same-owner", "-xf", "-"]
    try:
        unpacked = subprocess.run(unpack, stdin=sending.stdout, stderr=subprocess.PIPE, text=True)
        code = sending.wait()
        reason = (unpacked.stderr.strip().splitlines() or ["the connection ended"])[0]
        whole = code == 0 and unpacked.returncode == 0
    except KeyboardInterrupt:
        code, reason, whole = None, "interrupted", False
    if code == _NO_RUN:
        return None
    made = next(passing.iterdir(), None) if whole else None
    if made is not None:
        try:
            return made.rename(passing.parent / made.name)
        except OSError as error:  # Another run has its name.
            reason = str(error.strerror)
    raise _NotCopied(_STAGE, f"the run was not copied ({reason}); it is on {remote.host} in {runs}")


def _remove(remote: RemoteServer, folder: str) -> None:
    subprocess.run(remote.command(_as_root(f"rm -rf {shlex.quote(folder)}")), capture_output=True)
