# SPDX-License-Identifier: Apache-2.0
"""The changes that a run with Reminis makes in the kernel, and how each is undone."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import ClassVar

from ccu.congestion.reminis import bpf_program, implementation
from ccu.congestion.reminis.implementation import MODULE

_TIMEOUT_S = 30


@dataclass(frozen=True)
class BpfProgram:
    """Reminis as a BPF program, which its loader registers."""

    kind: ClassVar[str] = "reminis-bpf"

    def remove(self) -> list[str]:
        command = bpf_program.command("clean")
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S)
        # From Linux 6.4 on it is gone with its loader, and there is nothing to remove.
        removed = answer.returncode == 0 and json.loads(answer.stdout)["removed"]
        return ["removed Reminis from the kernel"] if removed else []


@dataclass(frozen=True)
class LoadedModule:
    """The kernel module, loaded by the run."""

    kind: ClassVar[str] = "reminis-module"

    def remove(self) -> list[str]:
        if not implementation.is_loaded():
            return []
        if implementation.unload():
            return [f"unloaded the module {MODULE}"]
        return [
            f"the module {MODULE} stays loaded: sockets still use it; later, type: rmmod {MODULE}"
        ]


@dataclass(frozen=True)
class ModuleParameters:
    """The module's parameters, as they were before the run set its own."""

    kind: ClassVar[str] = "reminis-parameters"
    before: dict[str, str]

    def remove(self) -> list[str]:
        if not (self.before and implementation.is_loaded()):
            return []
        implementation.set_parameters(self.before)
        return [f"restored the parameters of the module {MODULE}"]
