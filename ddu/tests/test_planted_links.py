# SPDX-License-Identifier: Apache-2.0
"""Names at which a file is written before it gets its own: a link there leads nowhere."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, cast

import pytest

from ddu.run import durable
from ddu.store import backup


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "outside"
    file.write_text("of root")
    return file


def test_a_record_is_written_beside_a_link(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "run.part").symlink_to(outside)
    durable.write_text(tmp_path / "run.json", "written")
    assert (tmp_path / "run.json").read_text() == "written"
    assert not (tmp_path / "run.json").is_symlink()
    assert outside.read_text() == "of root"


def test_a_backup_is_written_beside_a_link(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dump(*_: object, stdout: IO[bytes]) -> None:
        stdout.write(b"written")

    monkeypatch.setattr(backup, "connected", lambda _: nullcontext())
    monkeypatch.setattr(backup, "_run", dump)
    (tmp_path / "store.part").symlink_to(outside)
    place = cast(Any, SimpleNamespace(url=lambda: ""))
    assert backup.backup(place, tmp_path / "store") == len(b"written")
    assert (tmp_path / "store").read_bytes() == b"written"
    assert not (tmp_path / "store").is_symlink()
    assert outside.read_text() == "of root"
