# SPDX-License-Identifier: Apache-2.0
"""Registers a policy's congestion control and runs the policy, for as long as this process lives.

`python -m ccu.congestion.policy.loader OBJECT NAME FOLDER ARGUMENT…`: prints the policy's `ready`
line. At SIGTERM it ends the policy, prints the plane's counters and exits. If the policy ends
first, the name stays registered, and Reno has its flows. If this process is killed, the kernel
removes the name (the registration is a BPF link) and ends the policy.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import signal
import subprocess
import sys
from collections.abc import Callable

from ccplane.abi import COMMANDS_BYTES, COUNTER_NAMES, COUNTERS
from ccu.congestion.bpf_loader import Program
from ccu.host import processes

_PATIENCE_S = 3.0


def main(object_file: str, name: str, folder: str, *arguments: str) -> None:
    """Register NAME, run the policy in FOLDER, wait for SIGTERM."""
    program = Program(object_file)
    reports, memory = program.map_descriptor("reports"), program.map_descriptor(".bss")
    program.register(name)
    policy = subprocess.Popen(
        [sys.executable, *arguments, "--maps", str(reports), str(memory)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        pass_fds=(reports, memory),
        preexec_fn=_prepared(),
    )
    said = policy.stdout.read() if policy.stdout else b""  # It closes its output once it is ready.
    if b'"ready"' not in said:
        sys.exit(f"the policy ended before it was ready: {said.decode().strip()}")
    sys.stdout.buffer.write(said)
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    _end(policy)
    print(json.dumps(_counters(memory)), flush=True)


def _prepared() -> Callable[[], None]:
    """Return a `preexec_fn`: the policy hears signals, and ends when this process is gone."""
    end_with_parent = processes.end_with_parent(signal.SIGKILL)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        end_with_parent()

    return prepare


def _end(policy: subprocess.Popen[bytes]) -> None:
    policy.terminate()
    policy.send_signal(signal.SIGCONT)  # It may have been stopped.
    with contextlib.suppress(subprocess.TimeoutExpired):
        policy.wait(_PATIENCE_S)
        return
    policy.kill()
    policy.wait()


def _counters(memory: int) -> dict[str, int]:
    """Return what the program counted; its memory begins with the commands."""
    length = COMMANDS_BYTES + mmap.PAGESIZE
    with mmap.mmap(memory, length, mmap.MAP_SHARED, mmap.PROT_READ) as mapped:
        return dict(zip(COUNTER_NAMES, COUNTERS.unpack_from(mapped, COMMANDS_BYTES), strict=True))


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    main(*sys.argv[1:])
