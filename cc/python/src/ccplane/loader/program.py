# SPDX-License-Identifier: Apache-2.0
"""A compiled BPF congestion control: opened, given its constants, loaded, registered."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ccplane.loader import btf, machine
from ccplane.loader.libbpf import LoadError, libbpf

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
MAP_TYPE_STRUCT_OPS = 26
_F_LINK = 1 << 13  # BPF_F_LINK of include/uapi/linux/bpf.h: a map that is registered by a link
_PROG_TYPE_CGROUP_SOCKOPT = 25
_ATTACH_STRUCT_OPS = 44  # enum bpf_attach_type
# linux/mount.h, Linux 5.2: the same numbers on all machines
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_FSCONFIG_CREATE, _CLOEXEC = 6, 1


class Program:
    """A compiled program. All of its functions raise LoadError.

    It leaves the kernel with this process: from Linux 6.4 on whatever ends it, before only by
    `unregister`.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._object = ctypes.c_void_p(libbpf().bpf_object__open_file(os.fsencode(file), None))
        self._require(bool(self._object), "open")
        self._struct_ops = next(filter(_is_struct_ops, self._maps()), None)
        self._require(self._struct_ops is not None, "find a struct_ops map in")
        self._has_links = machine.has_links()
        self._links: list[int] = []
        self._registered = False

    def set(self, variable: str, value: bytes) -> None:
        """Give a variable its value; a constant only before `load`."""
        address, size = self._variable(variable)
        self._require(len(value) == size, f"set {variable} ({size} bytes) of")
        ctypes.memmove(address, value, size)

    def value(self, variable: str) -> bytes:
        """Return the value of a variable."""
        return ctypes.string_at(*self._variable(variable))

    def load(self) -> None:
        """Have the kernel's verifier check the program."""
        if self._has_links:
            error = libbpf().bpf_map__set_map_flags(self._struct_ops, _F_LINK)
            self._require(error == 0, "prepare")
        if libbpf().libbpf_probe_bpf_prog_type(_PROG_TYPE_CGROUP_SOCKOPT, None) != 1:
            for function in self._socket_option_functions():
                libbpf().bpf_program__set_autoload(function, ctypes.c_bool(False))
        self._require(libbpf().bpf_object__load(self._object) == 0, "load")

    def register(self, name: str) -> None:
        """Have the kernel offer the congestion control."""
        attached = ctypes.c_void_p(libbpf().bpf_map__attach_struct_ops(self._struct_ops))
        self._require(bool(attached), "register")
        self._registered = True
        if self._has_links:
            self._links.append(self._link(attached))
        if name not in AVAILABLE.read_text().split():
            self.unregister()
            raise LoadError(f"{self._file}: has another name than {name}; set .name to it")

    @property
    def outlives_loader(self) -> bool:
        """Whether the registration stays if this process is killed."""
        return not self._has_links

    def unregister(self) -> None:
        """Take the congestion control out of the kernel."""
        if not self._registered:
            return
        self._registered = False
        for link in self._links:
            os.close(link)
        if not self._has_links and (number := unregister(libbpf().bpf_map__fd(self._struct_ops))):
            raise LoadError(f"cannot unregister {self._file}", number)

    def close(self) -> None:
        """Drop the program. Its maps end as well."""
        libbpf().bpf_object__close(self._object)

    def map_descriptor(self, name: str) -> int:
        """Return the descriptor of one of the program's maps."""
        return int(libbpf().bpf_map__fd(self._map(name)))

    def put(self, name: str, key: int, value: int) -> None:
        """Put an entry into a map of 32-bit keys and values."""
        error = libbpf().bpf_map_update_elem(
            self.map_descriptor(name),
            ctypes.byref(ctypes.c_uint32(key)),
            ctypes.byref(ctypes.c_uint32(value)),
            ctypes.c_uint64(0),
        )
        self._require(error == 0, f"fill {name} of")

    def handle_socket_options(self) -> str | None:
        """Attach the program's functions for socket options to all sockets, as long as this process
        lives; return why that failed. An old kernel or a container may not allow it."""
        try:
            cgroup = _open_root_cgroup()
        except OSError as error:
            return os.strerror(error.errno or 0)
        try:
            for function in self._socket_option_functions():
                if not libbpf().bpf_program__attach_cgroup(function, cgroup):
                    return os.strerror(ctypes.get_errno())
        finally:
            os.close(cgroup)
        return None

    def _link(self, attached: ctypes.c_void_p) -> int:
        if (libbpf().libbpf_major_version(), libbpf().libbpf_minor_version()) >= (1, 2):
            return int(libbpf().bpf_link__fd(attached))
        # Older libbpf fills the map only: the link is made here.
        descriptor = libbpf().bpf_map__fd(self._struct_ops)
        link = int(libbpf().bpf_link_create(descriptor, 0, _ATTACH_STRUCT_OPS, None))
        self._require(link >= 0, "register")
        return link

    def _maps(self) -> Iterator[ctypes.c_void_p]:
        one = None
        while one := libbpf().bpf_object__next_map(self._object, ctypes.c_void_p(one)):
            yield ctypes.c_void_p(one)

    def _map(self, name: str) -> ctypes.c_void_p:
        one = libbpf().bpf_object__find_map_by_name(self._object, name.encode())
        self._require(bool(one), f"find the map {name} in")
        return ctypes.c_void_p(one)

    def _socket_option_functions(self) -> Iterator[ctypes.c_void_p]:
        one = None
        while one := libbpf().bpf_object__next_program(self._object, ctypes.c_void_p(one)):
            if libbpf().bpf_program__type(ctypes.c_void_p(one)) == _PROG_TYPE_CGROUP_SOCKOPT:
                yield ctypes.c_void_p(one)

    def _variable(self, name: str) -> tuple[int, int]:
        """Return address and size of a variable; the loaded program has the same memory."""
        types = ctypes.c_void_p(libbpf().bpf_object__btf(self._object))
        for section in (".rodata", ".data", ".bss"):
            for variable, offset, size in btf.variables(types, section):
                if variable == name:
                    whole = ctypes.c_size_t()
                    start = libbpf().bpf_map__initial_value(self._map(section), ctypes.byref(whole))
                    return start + offset, size
        raise LoadError(f"{self._file}: has no variable {name}")

    def _require(self, succeeded: bool, action: str) -> None:
        if not succeeded:
            raise LoadError(f"cannot {action} {self._file}", ctypes.get_errno())


def unregister(map_descriptor: int) -> int:
    """Remove a registration without a link; return 0 or an errno."""
    error = libbpf().bpf_map_delete_elem(map_descriptor, ctypes.byref(ctypes.c_uint32(0)))
    return ctypes.get_errno() if error else 0


def _is_struct_ops(one: ctypes.c_void_p) -> bool:
    return bool(libbpf().bpf_map__type(one) == MAP_TYPE_STRUCT_OPS)


def _open_root_cgroup() -> int:
    """Open the root of the cgroup v2 hierarchy, even if it is not mounted. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(*arguments: Any) -> int:
        result = int(libc.syscall(*arguments))
        if result < 0:
            raise OSError(ctypes.get_errno(), "cgroup2")
        return result

    filesystem = call(_FSOPEN, b"cgroup2", _CLOEXEC)
    try:
        call(_FSCONFIG, filesystem, _FSCONFIG_CREATE, None, None, 0)
        return call(_FSMOUNT, filesystem, _CLOEXEC, 0)
    finally:
        os.close(filesystem)
