# SPDX-License-Identifier: Apache-2.0
"""The programs of a policy: ccplane, which runs it, and the plane, compiled for its name."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
from collections.abc import Mapping
from pathlib import Path

from ccu.congestion.catalogue import trace_file
from ccu.congestion.provider import Setup
from ccu.host import programs
from testbed_console.problems import RefusedError, refusal

PLANE = programs.REPOSITORY / "cc" / "plane" / "plane.bpf.c"
_BTF_KIND_STRUCT = 4


def arguments(action: str, file: Path, parameters: Mapping[str, str]) -> list[str]:
    """Return the arguments of Python that check or run a policy."""
    given = [text for key, value in parameters.items() for text in ("--param", f"{key}={value}")]
    # Without bytecode files: nothing but the trace is written.
    return ["-B", "-m", "ccplane", action, str(file), *given]


def run_arguments(name: str, kept: Path, setup: Setup) -> list[str]:
    """Return the arguments that run a policy in the run's raw folder, where its source is kept."""
    own = arguments("run", Path(kept.name), setup.experiment.cc_params_of(name))
    return [*own, "--trace", trace_file(setup.raw, name).name, "--ended", ended_file(name)]


def ended_file(name: str) -> str:
    """Return the file below the raw folder in which a policy says how it ended."""
    return f"logs/cc-{name}-ended.json"


def refused(said: str, log: str, file: Path) -> RefusedError:
    """Return what `ccplane` found wrong with a policy."""
    try:
        found = json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        why = (log.strip().splitlines() or ["no reason given"])[-1]
        return refusal(f"cannot be checked: {why}", "correct the policy", file=file)
    return refusal(found["rule"], found["fix"], file=file, line=found["line"])


def defines(name: str) -> list[str]:
    """Return what the plane is compiled with for this kernel."""
    old = [] if _control_has_ack() else ["PLANE_OLD_CONTROL"]
    return [f'PLANE_NAME="{name}"', *old]


def _control_has_ack() -> bool:
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
