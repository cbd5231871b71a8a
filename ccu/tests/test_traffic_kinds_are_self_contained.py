# SPDX-License-Identifier: Apache-2.0
"""The name of a kind of traffic, or of a program that makes it, occurs in its folder only."""

from __future__ import annotations

import re
from pathlib import Path

import ccu
from ccu import traffic

SOURCE = Path(ccu.__file__).parent
FOLDERS = r"traffic/\w+/|testbeds/phone/"
"""Kinds of this package; the phone's own is in its testbed's folder, with its iperf3."""
OTHER_MEANINGS = {
    "host/programs.py": "quic-flow",  # the project builds it
    "host/namespace.py": "tcp",  # a table of /proc/net
    "testbeds/oai/preflight.py": "tcp|udp",  # transports of OpenAirInterface's own ports
    "testbeds/oai/runtime.py": "tcp",
    "testbeds/oai/stack.py": "tcp|udp",
    "scenarios/sources/lumos5g.py": "iperf3",  # how others measured
    "cli/scheduler.py": "tcp",  # the scheme of an address
    "host/listening.py": "tcp|udp",  # protocols of sockets
}


def test_no_kind_is_named_outside_its_folder() -> None:
    assert {"tcp", "udp", "program"} <= traffic.drivers().keys()
    quoted = "|".join(traffic.drivers().keys() - {"phone"})  # which is a testbed, too
    programs = "|".join(traffic.every_program())
    names = re.compile(rf"[\"'`]({quoted})[\"'`:]|\b({programs})\b")
    mentions = []
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        if re.match(FOLDERS, name):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            named = {one[1] or one[2] for one in names.finditer(line)}
            if {one for one in named if not re.fullmatch(OTHER_MEANINGS.get(name, ""), one)}:
                mentions.append(f"{name}:{number}: {line.strip()}")
    assert mentions == []


def test_kinds_do_not_import_each_other() -> None:
    kinds = {file.parent.name for file in (SOURCE / "traffic").glob("*/driver.py")}
    assert len(kinds) >= 2
    for kind in kinds:
        for file in (SOURCE / "traffic" / kind).rglob("*.py"):
            imported = set(re.findall(r"ccu\.traffic\.(\w+)", file.read_text()))
            assert not imported & (kinds - {kind}), file
