# SPDX-License-Identifier: Apache-2.0
"""The changes that a run with Reminis makes in the kernel, and how each is undone."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import ClassVar

from ccu.congestion.reminis import bpf_program, implementation
from ccu.congestion.reminis.implementation import MODULE

_CLEAN_TIMEOUT_S = 30  # so that a loader that hangs does not keep the cleanup


@dataclass(frozen=True)
class BpfProgram:
    """Reminis as a BPF program, which its loader (kmod/loader) registers."""

    kind: ClassVar[str] = "reminis-bpf"

    def remove(self) -> list[str]:
        command = bpf_program.command("clean")
        cleaned = subprocess.run(command, capture_output=True, text=True, timeout=_CLEAN_TIMEOUT_S)
        # From Linux 6.4 on its registration ends with the loader, so that nothing is left.
        removed = cleaned.returncode == 0 and json.loads(cleaned.stdout)["removed"]
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
