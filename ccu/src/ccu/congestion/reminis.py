# SPDX-License-Identifier: Apache-2.0
"""Reminis' two ways into the kernel: the module if there is one, else the BPF program."""

from __future__ import annotations

import contextlib
import json
import platform
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from ccu.host import programs

NAME = "reminis"
MODULE = "tcp_reminis"
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_SYS_MODULE = Path("/sys/module")
_MODULES = Path("/lib/modules")
_LOADED_MODULES = Path("/proc/modules")  # absent if the kernel can load none
_UNLOAD_TRIES = 10
_UNLOAD_PAUSE_S = 0.3


class Way(NamedTuple):
    """How Reminis can run here; `trouble` says why it cannot, with the mend."""

    kind: str
    """`module`, `bpf`, or empty if neither can be had."""
    summary: str
    """For `ccu list cc`."""
    trouble: str | None = None
    taken: bool = False
    """The trouble passes by itself: another run has it."""


def way() -> Way:
    """The way that a run would take now; changes nothing. The module goes first."""
    if is_loaded() and _is_registered():
        return Way("module", "kernel module, loaded")
    loader = programs.find("reminis-bpf")
    status = _status(loader) if loader else {}
    if _is_registered():
        return Way("", "", _holder(status), taken=_held_by_a_run(status))
    if file := installed():
        return Way("module", f"kernel module, loaded for a run ({file})")
    trouble = _bpf_trouble(loader, status)
    return Way("", "", trouble) if trouble else Way("bpf", "BPF program")


def bpf_trouble() -> str | None:
    """Why the BPF program cannot run here, with the mend; None if it can."""
    loader = programs.find("reminis-bpf")
    return _bpf_trouble(loader, _status(loader) if loader else {})


def is_loaded() -> bool:
    return (_SYS_MODULE / MODULE).exists()


def parameters_in_force() -> dict[str, str]:
    """The loaded module's, as it tells them."""
    files = sorted((_SYS_MODULE / MODULE / "parameters").glob("*"))
    return {file.name: file.read_text().strip() for file in files}


def set_parameters(wanted: dict[str, str]) -> None:
    """Writes to the loaded module. Raises OSError if it refuses one."""
    for name, value in wanted.items():
        (_SYS_MODULE / MODULE / "parameters" / name).write_text(value)


def load() -> str | None:
    """Why the module cannot be loaded, with the mend; None if it is."""
    said = subprocess.run(["modprobe", MODULE], capture_output=True, text=True, timeout=30)
    return why_not_loaded(said.stderr) if said.returncode else None


def restore(parameters: dict[str, str], *, unload: bool) -> list[str]:
    """Gives the module its parameters back, or unloads it; sentences that say what was done."""
    if not is_loaded():
        return []
    if unload:
        for _ in range(_UNLOAD_TRIES):  # Closing sockets hold it until their last ACK.
            if subprocess.run(["modprobe", "-r", MODULE], capture_output=True).returncode == 0:
                return [f"unloaded the module {MODULE}"]
            time.sleep(_UNLOAD_PAUSE_S)
    with contextlib.suppress(OSError):
        set_parameters(parameters)
    if unload:
        return [f"the module {MODULE} stays loaded, since flows use it; later: rmmod {MODULE}"]
    return [f"gave the module {MODULE} its parameters back"] if parameters else []


def installed() -> Path | None:
    """The module for this kernel, where DKMS puts it, if the kernel can load any."""
    if not _LOADED_MODULES.exists():
        return None
    folder = _MODULES / platform.release()
    return next(iter(sorted(folder.rglob(f"{MODULE}.ko*"))), None) if folder.is_dir() else None


def _is_registered() -> bool:
    return NAME in _AVAILABLE.read_text().split()


def _held_by_a_run(status: dict[str, Any]) -> bool:
    return status.get("registered") == "bpf" and not status.get("left_behind")


def _holder(status: dict[str, Any]) -> str:
    """Whose the name is, when it is not a loaded module's."""
    if status.get("left_behind"):
        return "a killed loader left it registered; type: ccu clean"
    if status.get("registered") == "bpf":
        return (
            f"process {status['pid']} (reminis-bpf, of another run?) has it, and one registration "
            "serves the whole machine; wait for its end"
        )
    if status.get("registered") == "other":
        return "another program's congestion control has the name; end that program"
    return "the name is taken, and who has it only root can tell; type: sudo ccu …"


def _bpf_trouble(loader: Path | None, status: dict[str, Any]) -> str | None:
    if loader is None:
        return f"reminis-bpf is not built; {programs.mend('reminis-bpf')}"
    if status.get("btf") is False:
        return (
            "this kernel tells no BTF (/sys/kernel/btf/vmlinux), which BPF needs; boot a kernel "
            "with CONFIG_DEBUG_INFO_BTF=y, or install the module: make -C kmod dkms-install"
        )
    # Without root nobody can tell; `ccu run` asks for root by itself.
    if status.get("root") and not status.get("usable"):
        return f"{status.get('why_not')}; the module is the other way: make -C kmod dkms-install"
    return None


def _status(loader: Path) -> dict[str, Any]:
    said = subprocess.run([loader, "status"], capture_output=True, text=True, timeout=30)
    try:
        found: dict[str, Any] = json.loads(said.stdout)
    except ValueError:
        return {"root": True, "usable": False, "why_not": said.stderr.strip() or "no answer"}
    return found


def why_not_loaded(said: str) -> str:
    """What modprobe's refusal means, with the mend."""
    lowered = said.lower()
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
        return "it was built for another kernel; type: make -C kmod dkms-install"
    return said.strip() or "modprobe does not say why"
