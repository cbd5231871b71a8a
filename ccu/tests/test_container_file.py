# SPDX-License-Identifier: Apache-2.0
"""Files of a container that root reads: its links lead to its own files, not to this machine's."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from ccu.host.supervisor import Supervisor
from ccu.testbeds.oai import configs, mac_pcap, stack
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.gnb_files import GnbFiles
from ccu.testbeds.oai.stack import Stack
from testsupport.waiting import until

CONTAINED = "import os, sys\nos.chroot(sys.argv[1])\nprint(flush=True)\nsys.stdin.read()"
CAPTURE = struct.pack("=IHHi7I", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 228, 0, 0, 0, 0)
"""A capture of one packet without bytes, pcap(5)."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for another root folder")


class Container(NamedTuple):
    """A process with a root folder of its own."""

    root: Path
    pid: int
    outside: Path
    """A file of this machine, which is not in the container."""

    def link(self, name: str, to: object) -> None:
        (self.root / name).unlink(missing_ok=True)
        (self.root / name).symlink_to(str(to))


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in ("opt/oai-gnb", "tmp", "data"):
        (root / folder).mkdir(parents=True)
    outside.write_bytes(b"secret of root")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", CONTAINED, root], **pipes)  # type: ignore[call-overload]
    process.stdout.readline()
    yield Container(root, process.pid, outside)
    process.communicate()


def test_statistics_are_those_of_the_container(container: Container, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    up = "../" * 20
    container.link("opt/oai-gnb/nrMAC_stats.log", container.outside)
    container.link("opt/oai-gnb/nrL1_stats.log", f"{up}{container.outside}")
    os.mkfifo(container.root / "nrL1_stats.log")  # A reader of a pipe waits for a writer.
    container.link("opt/oai-gnb/nrRRC_stats.log", "/data/rrc")
    (container.root / "data/rrc").write_text("of the container")
    files = GnbFiles(lambda: container.pid, kept)
    files.start()
    try:
        until(lambda: list(kept.iterdir()))
    finally:
        files.finish()
    assert [one.name for one in kept.iterdir()] == ["nrRRC_stats.log"]
    assert (kept / "nrRRC_stats.log").read_text().splitlines()[1] == "of the container"


def test_transport_blocks_are_those_of_the_container(container: Container, tmp_path: Path) -> None:
    copy = tmp_path / "mac.pcap"
    container.outside.write_bytes(CAPTURE)
    container.link("tmp/mac.pcap", container.outside)
    assert mac_pcap.collect(container.pid, copy) == [
        "the gNB has written no transport blocks (--mac-pcap)"
    ]
    assert not copy.exists()
    (container.root / "data/blocks").write_bytes(CAPTURE)
    container.link("tmp/mac.pcap", "/data/blocks")
    assert mac_pcap.collect(container.pid, copy) == []
    assert copy.read_bytes() == CAPTURE


def test_a_ue_gets_no_file_of_this_machine_as_its_configuration(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gNB names a file by a link, and the UE's container would see it."""
    monkeypatch.setattr(stack, "_POLL_S", 0)
    owned: Any = SimpleNamespace(register=lambda *_: None)
    runtime: Any = SimpleNamespace(pid=lambda _: container.pid)
    plan = configs.Plan("2026.w11", carrier(24), core="none")
    made = Stack(plan, runtime, Supervisor(owned, tmp_path), owned, tmp_path)
    (tmp_path / "config").mkdir()

    def own_files(spared: str) -> None:
        assert spared == "gnb"
        for name in configs.RECONFIGURATION:
            container.link(name, "/data/own")
        (container.root / "data/own").write_bytes(b"of the container")

    monkeypatch.setattr(made, "_check", own_files)
    for name in configs.RECONFIGURATION:
        container.link(name, container.outside)
    made._pass_configuration("gnb", 0)
    passed = {(tmp_path / "config" / name).read_bytes() for name in configs.RECONFIGURATION}
    assert passed == {b"of the container"}
