# SPDX-License-Identifier: Apache-2.0
"""The registrations of BPF congestion controls: who holds them, and those that were left behind."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from ccplane.loader.libbpf import LoadError, libbpf
from ccplane.loader.program import AVAILABLE, MAP_TYPE_STRUCT_OPS, unregister

_MAP_INFO = struct.Struct("=6I16s")  # struct bpf_map_info: type, id, …, name
_MAP_INFO_BYTES = 256


class Registered(NamedTuple):
    """The holder of a name."""

    holder: Literal["none", "bpf", "module", "other"] = "none"
    map_id: int = 0
    pid: int = 0
    """The loader of the BPF program; 0: it was killed, and left it behind."""

    @property
    def left_behind(self) -> bool:
        """Whether `remove_left_behind` removes it."""
        return self.holder == "bpf" and not self.pid


def registered(name: str, map_name: str) -> Registered:
    """Return who has registered `name`; `map_name`: our struct_ops map, which only root sees."""
    if name not in AVAILABLE.read_text().split():
        return Registered()
    # A killed loader's map may outlive its registration briefly: prefer one that is open.
    ours = [Registered("bpf", number, _holder(number)) for number, _ in _maps(map_name)]
    if ours:
        return next((one for one in ours if one.pid), ours[-1])
    return Registered("module" if Path(f"/sys/module/tcp_{name}").exists() else "other")


def remove_left_behind(map_name: str) -> int:
    """Remove the registrations that killed loaders left; return their number. Raises LoadError."""
    removed = 0
    for number, descriptor in _maps(map_name):
        if _holder(number):
            continue
        error = unregister(descriptor)
        # A link, which the kernel is removing, is refused.
        if error and error != errno.EOPNOTSUPP:
            raise LoadError("cannot remove what was left behind", error)
        removed += not error
    return removed


def _holder(map_id: int) -> int:
    """Return the process, other than this one, that has the map open, or 0."""
    line = f"map_id:\t{map_id}\n"
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) != os.getpid() and _has_open(process, line):
            return int(process.name)
    return 0


def _has_open(process: Path, line: str) -> bool:
    try:
        return any(line in file.read_text() for file in (process / "fdinfo").iterdir())
    except OSError:  # It has ended, or closed a file.
        return False


def _maps(name: str) -> Iterator[tuple[int, int]]:
    """Yield number and descriptor of each struct_ops map of this name."""
    number = ctypes.c_uint32(0)
    while libbpf().bpf_map_get_next_id(number, ctypes.byref(number)) == 0:
        with _opened(number.value) as descriptor:
            if descriptor >= 0 and _kind_and_name(descriptor) == (MAP_TYPE_STRUCT_OPS, name):
                yield number.value, descriptor


@contextmanager
def _opened(number: int) -> Iterator[int]:
    descriptor = libbpf().bpf_map_get_fd_by_id(ctypes.c_uint32(number))
    try:
        yield descriptor
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _kind_and_name(descriptor: int) -> tuple[int, str]:
    content = ctypes.create_string_buffer(_MAP_INFO_BYTES)
    size = ctypes.c_uint32(_MAP_INFO_BYTES)
    libbpf().bpf_obj_get_info_by_fd(descriptor, content, ctypes.byref(size))
    kind, *_, name = _MAP_INFO.unpack_from(content.raw)
    return kind, name.rstrip(b"\0").decode()
