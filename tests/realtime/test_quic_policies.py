# SPDX-License-Identifier: Apache-2.0
"""A policy of the user's own that decides for QUIC in real time, where root writes beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.host import contain
from testsupport.runs import Runs, json_of

SHORT = ("--scenario", "static", "--prb", "24", "--duration", "3s")
HOSTILE = """\
import contextlib, os, sys

class Mine:
    def report(self, flow, report):
        folder = os.path.dirname(sys.argv[sys.argv.index("--trace") + 1])
        for name in {names!r}:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
            with contextlib.suppress(OSError):
                os.symlink(os.path.join({outside!r}, name), os.path.join(folder, name))
        flow.cwnd = 20
"""


@pytest.mark.root
@pytest.mark.skipif(bool(contain.losses()), reason="this machine cannot contain a program")
def test_a_policy_plants_no_link_where_root_writes(runs: Runs, tmp_path: Path) -> None:
    """Before, root's receiver and the supervisor wrote through such links."""
    pytest.importorskip("aioquic")
    outside = tmp_path / "outside"
    outside.mkdir()
    names = ("f0-receiver.sqlog", "f1-sender.json")
    for name in names:
        (outside / name).write_text("of root")
    policy = tmp_path / "mine.py"
    policy.write_text(HOSTILE.format(names=names, outside=str(outside)))
    run = runs("--flows", f"quic:{policy}+receiver=aioquic@0,quic:cubic@2", *SHORT)
    assert {(outside / name).read_text() for name in names} == {"of root"}
    assert not [file for file in (run / "raw").rglob("*") if file.is_symlink()]
    assert json_of(run / "raw/quic/f0-sender.json")["policy"]["commands"] > 0
    own = ("keys", "sqlog", "policy.csv", "policy.json")
    assert all((run / f"raw/quic/f0-sender.{kind}").stat().st_size for kind in own)
    assert {file.stat().st_uid for file in (run / "raw/quic").iterdir()} == {0}
