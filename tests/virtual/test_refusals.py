# SPDX-License-Identifier: Apache-2.0
"""Machines that cannot run the kernel in virtual time: one clear error each.

What a machine forbids is forbidden by a seccomp filter (seccomp(2)), as a container's runtime does.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.virtual_time import PROGRAM, VirtualRun, prepare

ROOT = Path(__file__).parents[2]
FLOW = {"cc": "cubic", "direction": "dl", "duration_s": 1}

# Of x86-64: unistd_64.h, seccomp.h, bpf_common.h.
MMAP, PTRACE = 9, 101
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
ALLOW, EPERM = 0x7FFF0000, 0x00050001
NUMBER, PROTECTION, FLAGS = 0, 16 + 2 * 8, 16 + 3 * 8
PROT_EXEC, MAP_SHARED = 4, 1

Instruction = tuple[int, int, int, int]
NO_PTRACE: list[Instruction] = [
    (LOAD, 0, 0, NUMBER), (EQUAL, 0, 1, PTRACE), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW),
]  # fmt: skip
NO_SHARED_CODE: list[Instruction] = [
    (LOAD, 0, 0, NUMBER), (EQUAL, 0, 7, MMAP),
    (LOAD, 0, 0, PROTECTION), (AND, 0, 0, PROT_EXEC), (EQUAL, 0, 4, PROT_EXEC),
    (LOAD, 0, 0, FLAGS), (AND, 0, 0, MAP_SHARED), (EQUAL, 0, 1, MAP_SHARED),
    (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW),
]  # fmt: skip


def forbidding(program: list[Instruction]) -> Callable[[], None]:
    """A function that puts the filter on the calling process."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    filters = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    )
    libc = ctypes.CDLL(None, use_errno=True)

    def forbid() -> None:
        assert code
        filter_at = ctypes.c_ulong(ctypes.addressof(filters))
        mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
        if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *[ctypes.c_ulong(0)] * 3) or (
            libc.prctl(PR_SET_SECCOMP, mode, filter_at)
        ):
            raise OSError(ctypes.get_errno(), "prctl")

    return forbid


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (NO_PTRACE, ["ptrace: this machine forbids it", "--cap-add SYS_PTRACE"]),
        (NO_SHARED_CODE, ["forbids executable memory", "vm.memfd_noexec"]),
    ],
)
def test_what_a_machine_forbids_is_named_with_a_fix(
    kernel: Path, tmp_path: Path, filters: list[Instruction], words: list[str]
) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the filter is for x86-64")
    plan = prepare(tmp_path, {"flows": [FLOW]})
    for command in (["run", plan], ["doctor"]):
        said = subprocess.run(
            [PROGRAM, "virtual", *command],
            capture_output=True,
            text=True,
            preexec_fn=forbidding(filters),
        )
        assert said.returncode == 1
        assert len(said.stderr.splitlines()) == 1
        assert all(word in said.stderr for word in words), said.stderr
    assert not (tmp_path / "mac.csv").exists()


def test_traffic_that_needs_more_memory_than_the_kernel_has_names_the_setting(
    virtual: Callable[..., VirtualRun],
) -> None:
    flood = {"transport": "udp", "direction": "dl", "duration_s": 2, "rate_bps": 2e9}
    plan = {"flows": [flood | {"length_bytes": 1400}], "memory_mb": 128}
    run = virtual(plan, queue={way: {"packets": 500_000} for way in ("dl", "ul")})
    assert run.result.returncode == 1
    assert "memory_mb: the kernel needed more memory than its 128 MB." in run.result.stderr


def test_a_program_that_polls_the_clock_is_stopped(virtual: Callable[..., VirtualRun]) -> None:
    poll = "import time\nwhile True: time.monotonic()"
    program = {"host": "ue", "command": [shutil.which("python3"), "-c", poll]}
    run = virtual({"programs": [program], "cpu_limit_s": 1})
    assert run.result.returncode == 1
    assert "asks for the time again and again" in run.result.stderr


def test_a_kernel_of_another_version_is_named(kernel: Path, tmp_path: Path) -> None:
    """The same kernel, whose check of the version gets another number from the library."""
    if not shutil.which("cc"):
        pytest.skip("needs cc")
    source, library = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text("unsigned calls = 999; const void *nr_link_calls(void) { return &calls; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    plan = prepare(tmp_path / "run", {"flows": [FLOW]})
    command = [PROGRAM, "virtual", "run", "--library", library, plan]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 1
    assert "are of different versions. Run setup/virtual-kernel again" in said.stderr


def test_without_a_source_package_the_builder_says_what_to_do(tmp_path: Path) -> None:
    """apt knows no package: an apt-cache that prints nothing."""
    (tmp_path / "apt-cache").write_text("#!/bin/sh\n")
    (tmp_path / "apt-cache").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment.pop("CCU_KERNEL_SOURCE", None)
    said = subprocess.run(
        [ROOT / "setup/virtual-kernel"], capture_output=True, text=True, env=environment
    )
    assert said.returncode == 1
    assert "apt has no package linux-source-*" in said.stderr
    assert "CCU_KERNEL_SOURCE" in said.stderr


@pytest.mark.parametrize(
    ("folder", "limit", "used"),
    [
        ("", "memory.max", "memory.current"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
)
def test_the_limit_of_a_control_group_counts(
    kernel: Path, tmp_path: Path, folder: str, limit: str, used: str
) -> None:
    """Control groups of version 2 and 1, as files, since the machine has only one of them."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount")
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    if not any(f":{folder}:" in group for group in groups):
        pytest.skip(f"this machine has no control groups with {limit}")
    plan = prepare(tmp_path, {"flows": [FLOW]})
    root = Path("/sys/fs/cgroup", folder)
    script = (
        f"mount -t tmpfs tests /sys/fs/cgroup && mkdir -p {root} && echo 150000000 >{root}/{limit} "
        f"&& echo 30000000 >{root}/{used} && exec {PROGRAM} virtual run {plan}"
    )
    command = ["unshare", "--mount", "sh", "-c", script]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 1
    assert "120 MB are available, and the kernel needs 200 MB" in said.stderr
    assert "raise the limit of this container or control group" in said.stderr
