# SPDX-License-Identifier: Apache-2.0
"""Registers a BPF congestion control for as long as this process lives.

`python -m ccu.congestion.bpf_loader OBJECT NAME`: prints `{"event": "ready"}` when the kernel
offers NAME, and ends at SIGTERM. The registration is a BPF link, which the kernel removes with its
holder (Linux 6.4 and newer): nothing is left behind, whatever ends the process.
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


def main(object_file: str, name: str) -> None:
    """Register NAME, report readiness, wait for SIGTERM."""
    libbpf = _libbpf()
    link = _register(libbpf, object_file)
    offered = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if name not in offered:
        sys.exit(f"{object_file}: registers another name than {name}; set .name to the file's name")
    print(json.dumps({"event": "ready", "link": link}), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


def _libbpf() -> ctypes.CDLL:
    found = ctypes.util.find_library("bpf")
    if found is None:
        sys.exit("libbpf is missing; install libbpf1")
    libbpf = ctypes.CDLL(found, use_errno=True)
    pointers = ("bpf_object__open_file", "bpf_object__next_map", "bpf_map__attach_struct_ops")
    for function in pointers:
        getattr(libbpf, function).restype = ctypes.c_void_p
    return libbpf


def _register(libbpf: ctypes.CDLL, object_file: str) -> int:
    """Load the object and register its one struct_ops map; return the link's descriptor."""
    opened = ctypes.c_void_p(libbpf.bpf_object__open_file(object_file.encode(), None))
    _require(bool(opened), "open", object_file)
    struct_ops = _struct_ops_map(libbpf, opened)
    _require(bool(struct_ops), "find a struct_ops map in", object_file)
    _require(libbpf.bpf_map__set_map_flags(struct_ops, _BPF_F_LINK) == 0, "prepare", object_file)
    # The verifier's log, should it refuse the program, goes to stderr.
    _require(libbpf.bpf_object__load(opened) == 0, "load", object_file)
    attached = libbpf.bpf_map__attach_struct_ops(struct_ops)
    _require(bool(attached), "attach", object_file)
    if (libbpf.libbpf_major_version(), libbpf.libbpf_minor_version()) >= (1, 2):
        return int(libbpf.bpf_link__fd(ctypes.c_void_p(attached)))
    # Older libbpf fills the map only: the link is made here.
    link = libbpf.bpf_link_create(libbpf.bpf_map__fd(struct_ops), 0, _BPF_STRUCT_OPS, None)
    _require(link >= 0, "register", object_file)
    return int(link)


def _struct_ops_map(libbpf: ctypes.CDLL, opened: Any) -> Any:
    found = ctypes.c_void_p(libbpf.bpf_object__next_map(opened, None))
    while found and libbpf.bpf_map__type(found) != _BPF_MAP_TYPE_STRUCT_OPS:
        found = ctypes.c_void_p(libbpf.bpf_object__next_map(opened, found))
    return found


def _require(succeeded: bool, action: str, object_file: str) -> None:
    if not succeeded:
        reason = ctypes.get_errno()
        sys.exit(f"cannot {action} {object_file}: {errno_text(reason)}")


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
