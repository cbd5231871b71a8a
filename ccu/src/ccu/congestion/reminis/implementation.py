# SPDX-License-Identifier: Apache-2.0
"""The two implementations of Reminis, and which of them can run here."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from ccplane.loader.registration import Registered
from ccu.congestion.reminis import bpf_program
from ddu.installation import data

NAME = bpf_program.NAME
MODULE = "tcp_reminis"
INSTALL_MODULE = f"sudo make -C {data('ccu', 'kmod')} dkms-install"
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_SYS_MODULE = Path("/sys/module")
_MODULES = Path("/lib/modules")
_LOADED_MODULES = Path("/proc/modules")  # absent if the kernel can load none
_UNLOAD_TRIES = 10
_UNLOAD_PAUSE_S = 0.3


class Choice(NamedTuple):
    """The implementation that a run would use now."""

    kind: str
    """`module`, `bpf`, or empty if neither can run."""
    source: str
    """The description for `ccu list cc`."""
    obstacle: str | None = None
    """The reason why neither can run, and how to change that."""
    temporary: bool = False
    """The obstacle goes away with another run."""


def choose() -> Choice:
    """Return the implementation that a run would use now, the module first; changes nothing."""
    if is_loaded() and _is_registered():
        return Choice("module", "kernel module, loaded")
    if _is_registered():
        holder = bpf_program.holder()
        return Choice("", "", _taken(holder), temporary=holder.pid > 0)
    if file := installed():
        return Choice("module", f"kernel module, loaded for a run ({file})")
    obstacle = bpf_obstacle()
    return Choice("", "", obstacle) if obstacle else Choice("bpf", "BPF program")


def bpf_obstacle() -> str | None:
    """Return why the BPF program cannot run here, and how to change that; None if it can."""
    obstacle = bpf_program.obstacle()
    return f"{obstacle}; or install the module: {INSTALL_MODULE}" if obstacle else None


def is_loaded() -> bool:
    return (_SYS_MODULE / MODULE).exists()


def parameters_in_force() -> dict[str, str]:
    """Return the parameters of the loaded module, as the kernel reports them."""
    files = sorted((_SYS_MODULE / MODULE / "parameters").glob("*"))
    return {file.name: file.read_text().strip() for file in files}


def set_parameters(wanted: dict[str, str]) -> None:
    """Write parameters of the loaded module. Raises OSError if it refuses one."""
    for name, value in wanted.items():
        (_SYS_MODULE / MODULE / "parameters" / name).write_text(value)


def load() -> str | None:
    """Load the module; return why that failed, and how to change that, or None."""
    result = subprocess.run(["modprobe", MODULE], capture_output=True, text=True, timeout=30)
    return why_not_loaded(result.stderr) if result.returncode else None


def unload() -> bool:
    """Unload the module; False if sockets still use it."""
    for _ in range(_UNLOAD_TRIES):  # Closing sockets hold it until their last ACK.
        if subprocess.run(["modprobe", "-r", MODULE], capture_output=True).returncode == 0:
            return True
        time.sleep(_UNLOAD_PAUSE_S)
    return False


def installed() -> Path | None:
    """Return the module for this kernel, where DKMS puts it, if the kernel loads modules."""
    if not _LOADED_MODULES.exists():
        return None
    folder = _MODULES / platform.release()
    return next(iter(sorted(folder.rglob(f"{MODULE}.ko*"))), None) if folder.is_dir() else None


def _is_registered() -> bool:
    return NAME in _AVAILABLE.read_text().split()


def _is_root() -> bool:
    return os.geteuid() == 0


def _taken(holder: Registered) -> str:
    """Return who registered the name, when it is not a loaded module."""
    if holder.left_behind:
        return "a killed loader left it registered; type: ccu clean"
    if holder.pid:
        return (
            f"process {holder.pid} (reminis-bpf, perhaps of another run) uses it, and one "
            "registration serves the whole machine; wait until that process ends"
        )
    if not _is_root():
        return "the name is taken, and only root can see by whom; type: sudo ccu …"
    return "another program's congestion control has this name; end that program"


def why_not_loaded(stderr: str) -> str:
    """Return what modprobe's refusal means, and how to change that."""
    lowered = stderr.lower()
    if "key was rejected" in lowered or "required key not available" in lowered:
        return (
            "the kernel takes signed modules only (Secure Boot, lockdown or module.sig_enforce); "
            "enrol DKMS's key: mokutil --import /var/lib/dkms/mok.pub"
        )
    if "operation not permitted" in lowered:
        return "loading modules is not permitted here (lockdown, or no CAP_SYS_MODULE)"
    if "file exists" in lowered:
        return "the name reminis is taken; `reminis-bpf status` says by whom"
    if "exec format error" in lowered or "invalid module format" in lowered:
        return f"it was built for another kernel; type: {INSTALL_MODULE}"
    return stderr.strip() or "modprobe gave no reason"
