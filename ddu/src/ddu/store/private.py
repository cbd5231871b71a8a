# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of our own, from the distribution's package, without Docker and without root.

If this is root, the server runs as another user, who may put a link in place of any file in the
server's directories. So root neither reads nor writes there: programs with that user's rights do.
"""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ddu.console.input_file import need_regular
from ddu.errors import StoreError, StoreRefused
from ddu.store.directory import ADMIN, DATABASE, OWNER, READER, Address, StoreDirectory

UNPRIVILEGED = ("postgres", "nobody")
"""Whom root becomes: PostgreSQL refuses to run as root."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_OURS = "# ddu store up --bind"

_LONGEST_S = 600
"""The longest that a program takes: initdb, or pg_ctl that waits for the server."""
_MOST_MB = 64
"""The most that is read of a file."""
_LAST_BYTES = 100_000
"""The end of the log in which the last error is."""

SETTINGS = {
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    # Queries of milliseconds: compiling them takes longer than running them.
    "jit": "off",
    "random_page_cost": "1.1",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


def start(place: StoreDirectory, address: Address) -> None:
    """Make the cluster if there is none, start it, and return when it runs."""
    _need_no_pipe(place.log)
    if running(place):
        _refuse_moved(place, address)
        return
    _refuse_taken(address)
    if not (place.data / "PG_VERSION").exists():
        _initialise(place)
    _admit_others(place, address)
    options = {"listen_addresses": address.host, "port": address.port}
    options |= {"unix_socket_directories": ""} | SETTINGS
    arguments = " ".join(f"-c {name}='{value}'" for name, value in options.items())
    _run(place, "pg_ctl", "start", "-w", "-s", "-D", place.data, "-l", place.log, "-o", arguments)


def stop(place: StoreDirectory) -> bool:
    """Stop the server and wait; return False if it was not running."""
    if not running(place):
        return False
    _run(place, "pg_ctl", "stop", "-w", "-s", "-m", "fast", "-D", place.data)
    return True


def running(place: StoreDirectory) -> bool:
    file = place.data / "postmaster.pid"
    if not file.exists():
        return False
    _need_no_pipe(file)
    return _ran([program("pg_ctl", place.data), "status", "-D", place.data]).returncode == 0


def program(name: str, data: Path | None = None) -> Path:
    """Return one of PostgreSQL's programs: of the version that made the data, else the newest.

    Debian keeps the server's out of PATH, a directory for each version.
    """
    packaged = {path.parts[-3]: path for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")}
    newest = max(packaged, key=lambda version: int(version) if version.isdigit() else 0, default="")
    made = data / "PG_VERSION" if data else None
    version = _read(made).strip() if made and made.exists() else newest
    executable = packaged.get(version, packaged.get(newest)) or shutil.which(name)
    if not executable:
        raise StoreRefused(
            "not found",
            "install PostgreSQL (apt-get install postgresql), or use `ddu store up --docker`",
            key=name,
        )
    return Path(executable)


def _initialise(place: StoreDirectory) -> None:
    owner = _somebody()
    file = place.log.parent / "password"
    try:
        for directory in (place.data, place.log.parent):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if owner:
                os.chown(directory, owner.pw_uid, owner.pw_gid)
    except OSError as error:
        raise StoreError(f"cannot be written ({error.strerror})", file=place.directory) from None
    _write(file, place.password("admin"))
    try:
        _run(
            place, "initdb", "--auth=scram-sha-256", f"--username={ADMIN}", f"--pwfile={file}",
            "--encoding=UTF8", "--locale=C", "--data-checksums", "-D", place.data,
        )  # fmt: skip
    finally:
        _as_server(file, "rm", "--force", file)


def _admit_others(place: StoreDirectory, address: Address) -> None:
    """Let the server accept passwords from other machines if it listens for them; initdb's
    pg_hba.conf accepts them from this one."""
    file = place.data / "pg_hba.conf"
    lines = [line for line in _read(file).splitlines() if not line.endswith(_OURS)]
    if address.host not in _LOOPBACK:
        lines.append(f"host all {ADMIN} samehost scram-sha-256 {_OURS}")
        lines.append(f"host {DATABASE} {OWNER},{READER} all scram-sha-256 {_OURS}")
    _write(file, "\n".join(lines) + "\n")


def _refuse_moved(place: StoreDirectory, address: Address) -> None:
    """Refuse another address: postmaster.pid has the port in line 4 and the address in line 6."""
    lines = _read(place.data / "postmaster.pid").splitlines()
    port, host = int(lines[3]), lines[5].strip()
    if (host, port) != (address.host, address.port):
        raise StoreRefused(
            f"the store in {place.directory} runs on {host}:{port} already",
            "stop it with `ddu store down` first",
        )


def _refuse_taken(address: Address) -> None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise StoreRefused(
                error.strerror or str(error),
                "choose another with --port"
                if error.errno in (errno.EADDRINUSE, errno.EACCES)
                else "choose another with --bind",
                key=f"{address.host}:{address.port}",
            ) from None


def _somebody() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StoreRefused(f"no user {' or '.join(UNPRIVILEGED)}, and PostgreSQL does not run as root")


def rights() -> dict[str, Any]:
    """Return what gives a program (subprocess.run) the rights of the server's user, if this is
    root."""
    owner = _somebody()
    if not owner:
        return {}
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


def _read(file: Path, skip_bytes: int = 0) -> str:
    """Return the text of one of the server's files, from a byte on. Raises StoreError."""
    _need_no_pipe(file)
    # Of a pipe or device that the file has become meanwhile, no more than is there at once.
    flags = "iflag=nonblock,fullblock,skip_bytes"
    size = f"count={_MOST_MB}"
    return _as_server(file, "dd", f"if={file}", flags, f"skip={skip_bytes}", "bs=1M", size)


def _write(file: Path, text: str) -> None:
    """Write one of the server's files, which nobody else may read. Raises StoreError."""
    _as_server(file, "dd", f"of={file}", "oflag=nonblock", text=text)


def _need_no_pipe(file: Path) -> None:
    """Raise StoreError for what the server's user has put in place of a file to have its reader
    wait."""
    try:
        need_regular(file)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(error.strerror or str(error), file=file) from None


def _as_server(file: Path, *command: str | Path, text: str = "") -> str:
    """Return what a program prints that has the rights of the server. Raises StoreError, which
    names the file that it reads or writes."""
    ran = _ran(command, text)
    if ran.returncode != 0:
        reason = ran.stderr.decode(errors="replace").strip().splitlines()[:1]
        raise StoreError("".join(reason).rpartition(": ")[2] or f"{command[0]} failed", file=file)
    return ran.stdout.decode(errors="replace")


def _run(place: StoreDirectory, name: str, *arguments: str | Path) -> None:
    ran = _ran([program(name, place.data), *map(str, arguments)])
    if ran.returncode != 0:
        said, fix = _last_words(place, (ran.stdout + ran.stderr).decode(errors="replace"))
        raise StoreError(f"{name} failed: {said}", fix, file=place.directory)


def _ran(command: Sequence[str | Path], text: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a program with the rights of the server, for a limited time."""
    try:
        return subprocess.run(
            command, input=text.encode(), capture_output=True, cwd="/", umask=0o077, check=False,
            timeout=_LONGEST_S, **rights(),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StoreError(f"did not end within {_LONGEST_S} s", key=str(command[0])) from None


def _last_words(place: StoreDirectory, said: str) -> tuple[str, str]:
    try:
        skip = max(place.log.stat().st_size - _LAST_BYTES, 0)
        log = _read(place.log, skip).strip().splitlines()
    except (OSError, StoreError):
        log = []
    serious = [line for line in log[-20:] if "FATAL" in line or "ERROR" in line]
    lines = [line for line in said.strip().splitlines() if line]
    return (serious or lines or ["no reason given"])[-1], f"see {place.log}" if log else ""
