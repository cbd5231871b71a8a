# SPDX-License-Identifier: Apache-2.0
"""Registers a BPF congestion control for as long as this process lives.

`python -m ccu.congestion.bpf_loader OBJECT NAME`: prints `{"event": "ready"}` when the kernel
offers NAME, and ends at SIGTERM. The registration is a BPF link, which the kernel removes with its
holder (Linux 6.4 and newer): nothing is left behind, whatever ends the process.
`… --check OBJECT NAME` loads the program and drops it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import signal
import sys
from pathlib import Path
from typing import Any

_BPF_F_LINK = 1 << 13  # enum of include/uapi/linux/bpf.h: a map that is registered through a link
_BPF_MAP_TYPE_STRUCT_OPS = 26
_BPF_STRUCT_OPS = 44  # enum bpf_attach_type


def main(*arguments: str) -> None:
    """Register NAME, report readiness, wait for SIGTERM."""
    *options, object_file, name = arguments
    program = Program(object_file)
    if options == ["--check"]:
        return
    link = program.register(name)
    print(json.dumps({"event": "ready", "link": link}), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


class Program:
    """A compiled BPF program in the kernel. What the kernel refuses ends this process."""

    def __init__(self, object_file: str) -> None:
        self._libbpf, self._file = _libbpf(), object_file
        self._opened = ctypes.c_void_p(
            self._libbpf.bpf_object__open_file(object_file.encode(), None)
        )
        self._require(bool(self._opened), "open")
        self._struct_ops = self._struct_ops_map()
        self._require(bool(self._struct_ops), "find a struct_ops map in")
        set_flags = self._libbpf.bpf_map__set_map_flags(self._struct_ops, _BPF_F_LINK)
        self._require(set_flags == 0, "prepare")
        # The verifier's log, should it refuse the program, goes to stderr.
        self._require(self._libbpf.bpf_object__load(self._opened) == 0, "load")

    def register(self, name: str) -> int:
        """Have the kernel offer the congestion control; return the link's descriptor."""
        attached = self._libbpf.bpf_map__attach_struct_ops(self._struct_ops)
        self._require(bool(attached), "attach")
        link = self._link(attached)
        offered = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
        if name not in offered:
            sys.exit(
                f"{self._file}: registers another name than {name}; set .name to the file's name"
            )
        return link

    def map_descriptor(self, name: str) -> int:
        """Return the descriptor of one of the program's maps."""
        found = self._libbpf.bpf_object__find_map_fd_by_name(self._opened, name.encode())
        self._require(found >= 0, f"find the map {name} in")
        return int(found)

    def _link(self, attached: int) -> int:
        version = self._libbpf.libbpf_major_version(), self._libbpf.libbpf_minor_version()
        if version >= (1, 2):
            return int(self._libbpf.bpf_link__fd(ctypes.c_void_p(attached)))
        # Older libbpf fills the map only: the link is made here.
        descriptor = self._libbpf.bpf_map__fd(self._struct_ops)
        link = self._libbpf.bpf_link_create(descriptor, 0, _BPF_STRUCT_OPS, None)
        self._require(link >= 0, "register")
        return int(link)

    def _struct_ops_map(self) -> Any:
        found = ctypes.c_void_p(self._libbpf.bpf_object__next_map(self._opened, None))
        while found and self._libbpf.bpf_map__type(found) != _BPF_MAP_TYPE_STRUCT_OPS:
            found = ctypes.c_void_p(self._libbpf.bpf_object__next_map(self._opened, found))
        return found

    def _require(self, succeeded: bool, action: str) -> None:
        if not succeeded:
            sys.exit(f"cannot {action} {self._file}: {errno_text(ctypes.get_errno())}")


def _libbpf() -> ctypes.CDLL:
    found = ctypes.util.find_library("bpf")
    if found is None:
        sys.exit("libbpf is missing; install libbpf1")
    libbpf = ctypes.CDLL(found, use_errno=True)
    pointers = ("bpf_object__open_file", "bpf_object__next_map", "bpf_map__attach_struct_ops")
    for function in pointers:
        getattr(libbpf, function).restype = ctypes.c_void_p
    return libbpf


def errno_text(number: int) -> str:
    """Return what a failed registration's errno means."""
    known = {
        1: "not permitted; run as root",
        17: "the kernel already has a congestion control of this name; choose another name",
        22: "the kernel refuses the program; its log is above",
    }
    return known.get(number, f"errno {number}")


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    main(*sys.argv[1:])
