# SPDX-License-Identifier: Apache-2.0
"""Registers a BPF congestion control for as long as this process lives.

`python -m ccplane.loader OBJECT NAME` prints `{"event": "ready"}` when the kernel offers NAME, and
ends at SIGTERM, or with its parent. The registration is a BPF link, which the kernel removes with
its holder (Linux 6.4 and newer): nothing is left behind, whatever ends the process.

`… OBJECT NAME FOLDER ARGUMENT…` runs a policy in FOLDER, by these arguments of Python, and prints
its `ready` line, and the program's counters at the end. If the policy ends first, the name stays
registered, and Reno has its flows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ccplane.loader.libbpf import LoadError
from ccplane.loader.lifetime import Lifetime
from ccplane.loader.policy import PolicyProcess
from ccplane.loader.program import Program

_PERIOD_S = 0.5


def main(object_file: str, name: str, folder: str = "", *arguments: str) -> None:
    """Register NAME, run the policy if there is one, wait for the end."""
    lifetime = Lifetime()
    program = Program(Path(object_file))
    program.load()
    program.register(name)
    policy = PolicyProcess(program, arguments, Path(folder)) if arguments else None
    print(policy.ready() if policy else json.dumps({"event": "ready"}), flush=True)
    while lifetime.goes_on(_PERIOD_S):
        pass
    counters = policy.end() if policy else None
    program.unregister()
    if counters:
        print(json.dumps(counters), flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LoadError as error:
        sys.exit(f"{error.log}{error}")
