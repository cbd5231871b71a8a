# SPDX-License-Identifier: Apache-2.0
"""The process of a policy, which gets the maps of its BPF program."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ccplane.abi import COMMANDS_BYTES, COUNTER_NAMES, COUNTERS
from ccplane.loader.libbpf import LoadError
from ccplane.loader.program import Program

_PATIENCE_S = 3.0
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class PolicyProcess:
    """A policy that runs. If it ends, Reno has its flows; if this process does, it ends as well."""

    def __init__(self, program: Program, arguments: Sequence[str], folder: Path) -> None:
        """Start it in the folder, by the arguments of Python."""
        reports, self._memory = program.map_descriptor("reports"), program.map_descriptor(".bss")
        self._process = subprocess.Popen(
            [sys.executable, *arguments, "--maps", str(reports), str(self._memory)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=(reports, self._memory),
            preexec_fn=partial(_prepare, os.getpid()),
        )

    def ready(self) -> str:
        """Return its line, once it is ready. Raises LoadError."""
        assert self._process.stdout
        line = self._process.stdout.read().decode().strip()  # It closes its output then.
        if '"ready"' not in line:
            raise LoadError(f"the policy ended before it was ready: {line}")
        return line

    def end(self) -> dict[str, int]:
        """End it; return what the BPF program counted, whose memory begins with the commands."""
        self._process.terminate()
        self._process.send_signal(signal.SIGCONT)  # It may have been stopped.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)
        self._process.kill()
        self._process.wait()
        length = COMMANDS_BYTES + mmap.PAGESIZE
        with mmap.mmap(self._memory, length, mmap.MAP_SHARED, mmap.PROT_READ) as mapped:
            counts = COUNTERS.unpack_from(mapped, COMMANDS_BYTES)
        return dict(zip(COUNTER_NAMES, counts, strict=True))


def _prepare(loader: int) -> None:
    """Have a new process hear signals, and end when the loader is gone."""
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != loader:  # It ended before the call.
        os._exit(1)
