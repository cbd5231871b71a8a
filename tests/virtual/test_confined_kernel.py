# SPDX-License-Identifier: Apache-2.0
"""The kernel's process, in which modules of a user run, reaches no socket of this machine, where a
program takes its place and does what such a module could; nor what root writes in raw/."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ccu import scenarios, traffic
from ccu.host import contain, resources
from ccu.host.contain import Rights, contained
from ccu.host.supervisor import Supervisor
from ccu.scenarios.resolve import resolve
from ccu.testbeds import Site
from ccu.testbeds.virtual_time.run import Run
from testsupport.virtual_time import PROGRAM, prepare

MODULE = """\
#!{python}
import json, os, socket

def tried(act):
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno)
    return "done"

def connect(address):
    socket.socket(socket.AF_UNIX).connect(address)

def send():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", {datagram!r})

print(json.dumps({{
    "path": tried(lambda: connect({stream!r})),
    "name": tried(lambda: connect({name!r})),
    "pair": tried(send),
    "launcher": tried(lambda: open(f"/proc/{{os.getppid()}}/mem", "rb")),
}}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter, as /tmp, where services have their sockets."""
    made = Path(tempfile.mkdtemp(prefix="ccu-sockets-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.mark.skipif(bool(contain.losses()), reason="this machine cannot contain a program")
@pytest.mark.skipif(not PROGRAM.exists(), reason="nr-link is not built (make build)")
def test_a_module_reaches_no_socket_of_this_machine(folder: Path) -> None:
    stream, datagram, name = folder / "stream", folder / "datagram", f"\0ccu-test-{os.getpid()}"
    with ExitStack() as stack:
        for address, kind in ((stream, "STREAM"), (name, "STREAM"), (datagram, "DGRAM")):
            service = socket.socket(socket.AF_UNIX, socket.SocketKind[f"SOCK_{kind}"])
            stack.enter_context(service).bind(address if address == name else str(address))
            if kind == "STREAM":
                service.listen()
        for one in (stream, datagram):
            one.chmod(0o777)
        module = folder / "linux"
        module.write_text(
            MODULE.format(
                python=sys.executable, stream=str(stream), datagram=str(datagram), name=name
            )
        )
        module.chmod(0o755)
        raw = folder / "raw"
        plan = prepare(raw, {"flows": [{"cc": "cubic", "direction": "dl", "duration_s": 1}]})
        rights = Rights(
            writes=(str(raw),),
            keeps_network=True,
            socket_families=(socket.AF_UNIX,),
            traces_children=True,
        )
        command = contained([str(PROGRAM), "virtual", "run", "--kernel", module, plan], rights)
        said = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    (answer,) = [line for line in said.stderr.splitlines() if line.startswith("{")]
    refused = "Permission denied"
    assert json.loads(answer) == dict.fromkeys(("path", "name", "pair", "launcher"), refused)


POLICY = """\
import os

class Mine:
    def report(self, flow, report):
        for act in (
            lambda: open("radio/log", "a"),
            lambda: os.symlink("/etc/passwd", "radio/other"),
            lambda: os.rename("radio", "moved"),
            lambda: os.unlink("n3.pcap"),
        ):
            try:
                act()
            except OSError:
                continue
            raise RuntimeError("was not refused")
"""


@pytest.mark.skipif(bool(contain.losses()), reason="this machine cannot contain a program")
def test_a_policy_changes_nothing_that_root_writes_beside_it(
    kernel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In lockstep, root follows the radio in a folder in raw/ while the kernel writes there."""
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "records")
    policy, raw = tmp_path / "mine.py", tmp_path / "raw"
    policy.write_text(POLICY)
    for folder in (raw / "logs", raw / "radio"):
        folder.mkdir(parents=True)
    others = [raw / "radio", raw / "n3.pcap"]
    for file in (raw / "radio" / "log", raw / "n3.pcap"):
        file.write_text("of root")
    wanted = {"testbed": "virtual", "scenario": "static", "duration_s": 1, "prb": 24}
    experiment = resolve(wanted | {"flows": [{"cc": str(policy)}]})
    owned = resources.begin_record("abc123")
    scenario = scenarios.locate(experiment.scenario, experiment.seed)
    site = Site(experiment, scenario, raw, Supervisor(owned, raw / "logs"), owned)
    run = Run(site, traffic.plan(experiment))
    run.prepare(others)
    run.perform()
    assert len((raw / "cc-mine.csv").read_text().splitlines()) > 10  # It has made its attempts.
    assert json.loads((raw / "logs/cc-mine-ended.json").read_text())["code"] == 0
    assert {(raw / one).read_text() for one in ("radio/log", "n3.pcap")} == {"of root"}
