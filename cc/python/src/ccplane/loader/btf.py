# SPDX-License-Identifier: Apache-2.0
"""Types of the running kernel and of compiled programs (BTF), as libbpf reads them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from ccplane.loader.libbpf import libbpf

_STRUCT, _DATASEC = 4, 15  # BTF_KIND_…


class _Type(ctypes.Structure):
    """struct btf_type of include/uapi/linux/btf.h."""

    _fields_ = (("name", ctypes.c_uint32), ("info", ctypes.c_uint32), ("type", ctypes.c_uint32))


class _Member(ctypes.Structure):
    """struct btf_member."""

    _fields_ = (("name", ctypes.c_uint32), ("type", ctypes.c_uint32), ("offset", ctypes.c_uint32))


class _Variable(ctypes.Structure):
    """struct btf_var_secinfo."""

    _fields_ = (("type", ctypes.c_uint32), ("offset", ctypes.c_uint32), ("size", ctypes.c_uint32))


def variables(btf: ctypes.c_void_p, section: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, offset and size of each variable in a section of a program."""
    number = libbpf().btf__find_by_name_kind(btf, section.encode(), _DATASEC)
    if number >= 0:
        for one in _entries(_type(btf, number), _Variable):
            yield _name(btf, _type(btf, one.type).name), one.offset, one.size


def control_has_ack() -> bool:
    """Return whether the kernel's cong_control() has (sk, ack, flag, rs), as from Linux 6.10 on."""
    btf = ctypes.c_void_p(libbpf().btf__load_vmlinux_btf())
    try:
        number = libbpf().btf__find_by_name_kind(btf, b"tcp_congestion_ops", _STRUCT)
        members = _entries(_type(btf, number), _Member) if number >= 0 else []
        for member in members:
            if _name(btf, member.name) == "cong_control":
                function = _type(btf, _type(btf, member.type).type)
                return _count(function) == 4
        return True
    finally:
        libbpf().btf__free(btf)


def _type(btf: ctypes.c_void_p, number: int) -> _Type:
    libbpf().btf__type_by_id.restype = ctypes.POINTER(_Type)
    described: _Type = libbpf().btf__type_by_id(btf, number).contents
    return described


def _name(btf: ctypes.c_void_p, offset: int) -> str:
    libbpf().btf__name_by_offset.restype = ctypes.c_char_p
    name: bytes = libbpf().btf__name_by_offset(btf, offset)
    return name.decode()


def _count(described: _Type) -> int:
    """Return how many members, variables or parameters follow a type."""
    return int(described.info) & 0xFFFF


def _entries(described: _Type, kind: type[ctypes.Structure]) -> list[ctypes.Structure]:
    first = ctypes.addressof(described) + ctypes.sizeof(_Type)
    return list((kind * _count(described)).from_address(first))
