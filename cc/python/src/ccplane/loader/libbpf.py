# SPDX-License-Identifier: Apache-2.0
"""The functions of libbpf, and its log."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache

MISSING = "libbpf 1 is missing; install it: sudo apt-get install libbpf1"
_RETURN_POINTERS = (
    "bpf_map__attach_struct_ops",
    "bpf_map__initial_value",
    "bpf_object__btf",
    "bpf_object__find_map_by_name",
    "bpf_object__next_map",
    "bpf_object__next_program",
    "bpf_object__open_file",
    "bpf_program__attach_cgroup",
    "btf__load_vmlinux_btf",
)
_DEBUG = 2  # enum libbpf_print_level
_PRINT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_LOG_BYTES = 1 << 20
_MEANINGS = {
    errno.EPERM: "not permitted; run as root (and on kernels before 5.11 raise `ulimit -l`)",
    errno.EEXIST: "the kernel already has a congestion control of this name; choose another name",
}
_log: list[str] = []


class LoadError(Exception):
    """A refusal by libbpf or the kernel."""

    def __init__(self, what: str, number: int = 0) -> None:
        why = _MEANINGS.get(number) or os.strerror(number)
        super().__init__(f"{what}: {why}" if number else what)
        self.number = number
        """The errno; 0: none."""
        self.log = "".join(_log)
        """The log of libbpf, with the verifier's."""
        _log.clear()


@cache
def libbpf() -> ctypes.CDLL:
    """Return the library. Raises LoadError."""
    try:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError:
        raise LoadError(MISSING) from None
    for function in _RETURN_POINTERS:
        getattr(library, function).restype = ctypes.c_void_p
    library.libbpf_set_print(_KEEP)
    return library


def _keep(level: int, form: bytes, arguments: int) -> int:
    """Keep a line of the log; `arguments`: its va_list."""
    if level < _DEBUG:
        line = ctypes.create_string_buffer(_LOG_BYTES)
        ctypes.CDLL(None).vsnprintf(
            line, ctypes.c_size_t(_LOG_BYTES), form, ctypes.c_void_p(arguments)
        )
        _log.append(line.value.decode(errors="replace"))
    return 0


_KEEP = _PRINT(_keep)
