# SPDX-License-Identifier: Apache-2.0
"""Kernel modules of the user in virtual time: built, loaded, or refused with a reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ccu.congestion import native
from testsupport.virtual_time import VirtualRun, constant

AIMD = Path(__file__).parents[2] / "cc" / "bpf" / "aimd.bpf.c"

Virtual = Callable[..., VirtualRun]

TREE = Path(__file__).resolve().parents[2]
# A window that never changes: throughput is the window a round trip, whatever the link can carry.
FIXED_WINDOW = """
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int window = 20;
module_param(window, uint, 0444);

static u32 ssthresh(struct sock *sk)
{
	return window;
}

static void cong_control(struct sock *sk, const struct rate_sample *sample)
{
	tcp_sk(sk)->snd_cwnd = window;
}

static struct tcp_congestion_ops fixed = {
	.name = "fixed",
	.owner = THIS_MODULE,
	.ssthresh = ssthresh,
	.undo_cwnd = ssthresh,
	.cong_control = (void *)cong_control,
};

static int __init fixed_init(void)
{
	return tcp_register_congestion_control(&fixed);
}
module_init(fixed_init);
MODULE_LICENSE("GPL");
"""
LINK = {"scenario": constant(100, 100), "path": {way: {"delay_ms": 10} for way in ("dl", "ul")}}


def flow(cc: str, seconds: float = 3) -> dict[str, Any]:
    return {"cc": cc, "direction": "dl", "duration_s": seconds}


def build(
    source: Path, output: Path, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [TREE / "setup/virtual-module", *options, source, output]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def mbps(flow: dict[str, Any]) -> float:
    return float(flow["received_bytes"]) * 8e-6 / float(flow["receiving_s"])


@pytest.fixture(scope="session")
def module(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module tcp_fixed, built."""
    if kernel != (TREE / ".tools/virtual-kernel/linux").resolve():
        pytest.skip("the kernel is not that of this source tree")
    folder = tmp_path_factory.mktemp("module")
    (folder / "tcp_fixed.c").write_text(FIXED_WINDOW)
    said = build(folder / "tcp_fixed.c", folder / "tcp_fixed.ko")
    assert said.returncode == 0, said.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["tcp_fixed.c", "tcp_fixed.ko"]
    return folder / "tcp_fixed.ko"


@pytest.mark.parametrize("window", [20, 50])
def test_a_module_is_the_congestion_control(virtual: Virtual, module: Path, window: int) -> None:
    parameters = {"tcp_fixed": {"window": str(window)}}
    plan = {"flows": [flow("fixed")], "modules": [str(module)], "module_parameters": parameters}
    run = virtual(plan, **LINK)
    assert run.flow()["cc_read_back"] == "fixed"
    assert run.account["kernel"]["modules"] == ["tcp_fixed"]
    assert run.account["kernel"]["module_parameters"] == parameters
    rtt_s = 0.020 + 0.0001  # both ways, and the packets' own time on the link
    assert mbps(run.flow()) == pytest.approx(window * 1448 * 8e-6 / rtt_s, rel=0.05)


def test_a_module_that_no_flow_uses_changes_no_packet(virtual: Virtual, module: Path) -> None:
    plan = {"flows": [flow("cubic")], "capture": {"files": {"server": "sender.pcap"}}}
    without = virtual(plan, name="without")
    loaded = virtual({**plan, "modules": [str(module)]}, name="with")
    assert loaded.digests() == without.digests()


def test_what_is_kept_is_built_once(module: Path, kernel: Path, tmp_path: Path) -> None:
    beside = tmp_path / "kernel"
    beside.mkdir()
    (beside / "linux").write_bytes(b"")
    (beside / "module-tree").symlink_to(kernel.with_name("module-tree"))
    broken = tmp_path / "make"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    source, first, again = (tmp_path / name for name in ("tcp_fixed.c", "first.ko", "again.ko"))
    source.write_text(FIXED_WINDOW)
    ours = {"CCU_KERNEL": str(beside / "linux")}
    without_make = {**ours, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert build(source, again, "--keep", **without_make).returncode == 1
    said = build(source, first, "--keep", **ours)
    assert said.returncode == 0, said.stderr
    assert build(source, again, "--keep", **without_make).returncode == 0
    assert again.read_bytes() == first.read_bytes()
    source.write_text(FIXED_WINDOW.replace("window = 20", "window = 21"))
    assert build(source, again, "--keep", **without_make).returncode == 1


def test_a_folder_with_a_kbuild_is_built_and_stays_as_it_was(module: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "parts.c").write_text(FIXED_WINDOW)
    (source / "Kbuild").write_text("obj-m := tcp_two.o\ntcp_two-y := parts.o\n")
    said = build(source, tmp_path / "tcp_two.ko")
    assert said.returncode == 0, said.stderr
    assert (tmp_path / "tcp_two.ko").exists()
    assert sorted(path.name for path in source.iterdir()) == ["Kbuild", "parts.c"]


def test_what_does_not_compile_is_shown_as_the_compiler_says_it(
    module: Path, tmp_path: Path
) -> None:
    (tmp_path / "tcp_bad.c").write_text("#include <net/tcp.h>\nint wrong = nothing_of_this_name;\n")
    said = build(tmp_path / "tcp_bad.c", tmp_path / "tcp_bad.ko")
    assert said.returncode == 1
    assert "tcp_bad.c:2:" in said.stderr
    assert "nothing_of_this_name" in said.stderr
    assert not (tmp_path / "tcp_bad.ko").exists()


def test_the_build_names_what_is_wrong_with_its_arguments(module: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source, output, message in (
        (tmp_path / "empty", tmp_path / "x.ko", "a Kbuild"),
        (tmp_path / "none.c", tmp_path / "x.ko", "there is no such file"),
        (module.with_suffix(".c"), tmp_path / "x.o", "must end in .ko"),
        (module.with_suffix(".c"), tmp_path / "no/x.ko", "no such folder"),
    ):
        said = build(source, output)
        assert said.returncode == 2
        assert message in said.stderr


def refused(run: VirtualRun) -> str:
    assert run.result.returncode == 1
    assert run.result.stderr.count("\n") == 1, "one message"
    return run.result.stderr


def test_a_module_of_another_kernel_is_refused(
    virtual: Virtual, module: Path, tmp_path: Path
) -> None:
    content = module.read_bytes()
    at = content.index(b"vermagic=") + len(b"vermagic=")
    other = tmp_path / "tcp_fixed.ko"
    other.write_bytes(content[:at] + b"5.1.1" + content[at + 5 :])
    said = refused(virtual({"flows": [flow("fixed")], "modules": [str(other)]}))
    assert f"modules: {other}" in said
    assert "version magic '5.1.1" in said
    assert "setup/virtual-module" in said


def test_what_is_no_module_is_refused(virtual: Virtual, tmp_path: Path) -> None:
    (tmp_path / "text.ko").write_text("no module\n" * 100)
    said = refused(virtual({"flows": [flow("cubic")], "modules": [str(tmp_path / "text.ko")]}))
    assert "text.ko: the kernel refuses it" in said


def test_an_unknown_parameter_of_a_module_is_named(virtual: Virtual, module: Path) -> None:
    plan = {"flows": [flow("fixed")], "modules": [str(module)]}
    said = refused(virtual({**plan, "module_parameters": {"tcp_fixed": {"windw": "3"}}}))
    assert "unknown parameter 'windw'" in said


def test_a_module_that_is_not_there_is_named_before_anything_is_made(virtual: Virtual) -> None:
    run = virtual({"flows": [flow("cubic")], "modules": ["none.ko"]})
    assert run.result.returncode == 2
    assert "modules[0]: there is no file" in run.result.stderr
    assert not (run.folder / "mac.csv").exists()


def test_a_source_that_changes_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign may be at work while its user edits the file."""

    def build(command: list[Path], **_: object) -> subprocess.CompletedProcess[str]:
        shutil.copyfile(command[-2] / "mine.bpf.c", command[-1])
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(subprocess, "run", build)
    source = tmp_path / "mine.bpf.c"
    for content in (AIMD.read_text(), f"{AIMD.read_text()}/* changed */\n"):
        source.write_text(content)
        assert native.module("mine", source) == content.encode()
