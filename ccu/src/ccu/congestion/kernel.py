# SPDX-License-Identifier: Apache-2.0
"""The congestion controls that the running kernel has, or loads as a module when asked for one."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion.provider import Control, Provider
from ccu.host.setup import Setup

_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def registered() -> set[str]:
    """Return the names that sockets may ask for now."""
    return set(_AVAILABLE.read_text().split())


def _loadable() -> set[str]:
    """Return those that the kernel loads by itself when root asks for one (tcp_cong.c)."""
    folder = Path("/lib/modules", platform.release(), "kernel/net/ipv4")
    names = (re.match(r"tcp_(\w+)\.ko", file.name) for file in folder.glob("tcp_*.ko*"))
    return {name[1] for name in names if name} - {"diag"}


def own() -> set[str]:
    """Return those that belong to the kernel, whether loaded or not, as far as its files say."""
    listed = Path("/lib/modules", platform.release(), "modules.builtin")
    text = listed.read_text() if listed.exists() else ""
    return _loadable() | set(re.findall(r"^kernel/net/ipv4/tcp_(\w+)\.ko$", text, re.MULTILINE))


class Kernel(Provider):
    """See `ccu.congestion.provider.Provider`."""

    def controls(self) -> Mapping[str, Control]:
        loadable = dict.fromkeys(sorted(_loadable()), Control("kernel module"))
        return loadable | dict.fromkeys(sorted(registered()), Control("kernel"))

    @contextmanager
    def loaded(self, name: str, file: Path | None, setup: Setup) -> Iterator[dict[str, Any]]:  # noqa: ARG002
        """The kernel loads a module by itself when the first socket asks for it."""
        module = Path("/sys/module", f"tcp_{name}")
        parameters = {
            file.name: file.read_text().strip()
            for file in sorted((module / "parameters").glob("*"))
            if os.access(file, os.R_OK)
        }
        # Only a loaded module has `initstate`; what is built in has parameters at most.
        is_module = (module / "initstate").exists() or name not in registered()
        yield {"kind": "module" if is_module else "kernel", "parameters": parameters}

    def virtual_controls(self, kernel: Set[str]) -> Set[str]:
        return kernel


provider = Kernel()
