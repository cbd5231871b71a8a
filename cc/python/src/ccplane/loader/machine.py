# SPDX-License-Identifier: Apache-2.0
"""The support of the running kernel for BPF congestion controls."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from ccplane.loader.libbpf import LoadError, libbpf

BTF = Path("/sys/kernel/btf/vmlinux")
_JIT = Path("/proc/sys/net/core/bpf_jit_enable")


def obstacle() -> str | None:
    """Return why no congestion control can be loaded here, also as root, and how to change that."""
    if not BTF.exists():
        return (
            f"this kernel has no BTF ({BTF}), which BPF needs; boot one with "
            "CONFIG_DEBUG_INFO_BTF=y, such as Debian's, Ubuntu's or Fedora's"
        )
    if not has_type("bpf_struct_ops_tcp_congestion_ops"):
        return (
            f"this kernel ({platform.release()}) takes no congestion controls as BPF programs "
            "(struct_ops); boot Linux 5.6 or newer with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_JIT=y"
        )
    if not _jit_is_on():
        return "the BPF JIT is off; enable it: sysctl -w net.core.bpf_jit_enable=1"
    try:
        libbpf()
    except LoadError as error:
        return str(error)
    return None


def has_links() -> bool:
    """Return whether a registration ends with the process that made it (Linux 6.4)."""
    return has_type("bpf_struct_ops_link")


def has_type(name: str) -> bool:
    """Return whether the kernel's BTF names a type, member or constant so."""
    return os.access(BTF, os.R_OK) and _names(BTF, name)


@cache
def _names(file: Path, name: str) -> bool:
    return f"\0{name}\0".encode() in file.read_bytes()


def _jit_is_on() -> bool:
    """The file may be missing with BPF_JIT_ALWAYS_ON, or in a child network namespace."""
    try:
        return _JIT.read_text().strip() != "0"
    except OSError:
        return True
