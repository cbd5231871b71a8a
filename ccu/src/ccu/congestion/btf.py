# SPDX-License-Identifier: Apache-2.0
"""The interface for congestion controls, from the types of the running kernel."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from pathlib import Path

_BTF_KIND_STRUCT = 4


@cache
def has(file: Path, name: str) -> bool:
    """Return whether a kernel's BTF names a type, member or constant so."""
    return f"\0{name}\0".encode() in file.read_bytes()


def control_has_ack() -> bool:
    """Return whether the kernel's cong_control() has (sk, ack, flag, rs), as from Linux 6.10 on."""
    found = ctypes.util.find_library("bpf")
    libbpf = ctypes.CDLL(found or "libbpf.so.1")
    libbpf.btf__load_vmlinux_btf.restype = ctypes.c_void_p
    libbpf.btf__type_by_id.restype = ctypes.POINTER(_Type)
    libbpf.btf__name_by_offset.restype = ctypes.c_char_p
    btf = ctypes.c_void_p(libbpf.btf__load_vmlinux_btf())
    try:
        number = libbpf.btf__find_by_name_kind(btf, b"tcp_congestion_ops", _BTF_KIND_STRUCT)
        if number < 0:
            return True
        ops = libbpf.btf__type_by_id(btf, number)
        members = ctypes.cast(
            ctypes.addressof(ops.contents) + ctypes.sizeof(_Type), ctypes.POINTER(_Member)
        )
        for member in members[: ops.contents.info & 0xFFFF]:
            if libbpf.btf__name_by_offset(btf, member.name) == b"cong_control":
                pointer = libbpf.btf__type_by_id(btf, member.type)
                function = libbpf.btf__type_by_id(btf, pointer.contents.type)
                return bool(function.contents.info & 0xFFFF == 4)
        return True
    finally:
        libbpf.btf__free(btf)


class _Type(ctypes.Structure):
    """struct btf_type of include/uapi/linux/btf.h."""

    _fields_ = (("name", ctypes.c_uint32), ("info", ctypes.c_uint32), ("type", ctypes.c_uint32))


class _Member(ctypes.Structure):
    """struct btf_member."""

    _fields_ = (("name", ctypes.c_uint32), ("type", ctypes.c_uint32), ("offset", ctypes.c_uint32))
