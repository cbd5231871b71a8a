# SPDX-License-Identifier: Apache-2.0
"""A run that is killed at any instant leaves nothing: no process, no memory, no file elsewhere."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from testsupport.virtual_time import PROGRAM, become, give, prepare

# Nobody else's: all that belongs to this user is the run's.
STRANGER = 100_000 + os.getpid()
PLACES = ("/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/tmp", "/var/tmp")
INSTANTS = 10
STARTS, LAST_START_S = 80, 0.01
FLOW = {"direction": "dl", "duration_s": 1000}
PLAN = {
    "flows": [{**FLOW, "cc": "reminis"}, {**FLOW, "cc": "cubic", "direction": "ul"}],
    "programs": [{"host": "ue", "command": ["sleep", "500"]}],
    "capture": {"files": {"server": "sender.pcap", "ue": "receiver.pcap"}},
    "sockets": {"interval_ms": 1, "files": {"server": "sockets-server.pcap"}},
    "cc_traces": {"reminis": "cc-reminis.csv"},
}


def processes(uid: int) -> set[str]:
    """A user's processes with the times when they started."""
    running = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            started = (folder / "stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            continue  # it has just ended
        if f"\nUid:\t{uid}\t" in status:
            running.add(f"process {folder.name}, started at {started}")
    return running


def files_of(uid: int) -> set[str]:
    """Return a user's files where programs leave files, and shared memory of both kinds."""
    owned = set()
    for place in map(Path, PLACES):
        for path in place.iterdir() if place.is_dir() else ():
            try:
                if path.lstat().st_uid == uid:
                    owned.add(str(path))
            except OSError:
                continue  # somebody else's, and just removed
    for kind in ("shm", "sem", "msg"):
        header, *rows = map(str.split, Path("/proc/sysvipc", kind).read_text().splitlines())
        owner = header.index("uid")
        owned |= {f"{kind} {row[1]}" for row in rows if int(row[owner]) == uid}
    return owned


def ended(uid: int, before: set[str]) -> set[str]:
    """The processes that are left, after a while to end in."""
    patience = time.monotonic() + 300
    while (left := processes(uid) - before) and time.monotonic() < patience:
        time.sleep(0.02)
    return left


def test_killed_at_any_instant_it_leaves_nothing(kernel: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv, to be a user whom nothing else belongs to")
    if subprocess.run([*become(STRANGER), "test", "-x", str(PROGRAM)]).returncode != 0:
        pytest.skip("another user cannot read this source tree")
    home = tmp_path / "home"
    home.mkdir()
    give(home, STRANGER)
    environment = {**os.environ, "HOME": str(home)}
    before = processes(STRANGER), files_of(STRANGER)
    draw = random.Random(18)
    with_kernel = 0
    for number in range(INSTANTS):
        plan = prepare(tmp_path / f"run{number}", PLAN)
        give(plan.parent, STRANGER)
        after_s = draw.uniform(0, 1.5)
        run = subprocess.Popen(
            [*become(STRANGER), PROGRAM, "virtual", "run", plan],
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        time.sleep(after_s)
        with_kernel += len(processes(STRANGER) - before[0]) > 1
        run.send_signal(signal.SIGKILL)
        run.wait()
        at = f"killed after {after_s:.3f} s"
        assert ended(STRANGER, before[0]) == set(), at
        assert files_of(STRANGER) == before[1], at
        assert list(home.iterdir()) == [], at
    assert with_kernel > INSTANTS / 2, "most were killed before the kernel had started"


def test_a_kernel_killed_as_it_starts_leaves_no_process_of_its_own(kernel: Path) -> None:
    # It tries ptrace on children first; one that it has just made must not outlive it.
    name = f"nr_link_test={os.getpid()}"
    for n in range(STARTS):
        started = subprocess.Popen(
            [kernel, "mem=64M", "quiet", "con=null", "con0=null,fd:1", "uml_dir=/tmp/", name],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(n * LAST_START_S / STARTS)
        started.kill()
        started.wait()
    patience = time.monotonic() + 60
    while (left := named(name)) and time.monotonic() < patience:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def named(argument: str) -> list[int]:
    """Return the processes whose command line has an argument."""
    pids = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # It has just ended.
            if argument.encode() in file.read_bytes().split(b"\0"):
                pids.append(int(file.parent.name))
    return pids
