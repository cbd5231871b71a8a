# SPDX-License-Identifier: Apache-2.0
"""Reminis as a BPF program: the program, its loader (kmod/loader), and who has the name."""

from __future__ import annotations

import os
import sys

from ccplane.loader import machine, registration
from ccplane.loader.registration import Registered
from ddu import interpreter
from ddu.installation import build_hint, data

NAME = "reminis"
_LOADER = data("ccu", "kmod/loader")
_OBJECT = data("ccu", "kmod/build/reminis.bpf.o")
_MAP = "reminis_testbed"  # the struct_ops map, by which the loader's program is known


def command(*arguments: str) -> list[str]:
    """Return the command that runs the loader."""
    return [*interpreter.of_file(str(_LOADER)), *arguments]


def obstacle() -> str | None:
    """Return why it cannot run here, and how to change that; None if it can."""
    if not _OBJECT.exists():
        return f"the BPF program is not built; {build_hint()}"
    return machine.obstacle()


def holder() -> Registered:
    """Return who has registered the name."""
    return registration.registered(NAME, _MAP)


def main() -> None:
    """Run the loader in place of this process: the program `reminis-bpf`."""
    words = command(*sys.argv[1:])
    os.execv(words[0], words)
