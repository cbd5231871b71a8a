# SPDX-License-Identifier: Apache-2.0
"""A file that a command has written is the old one or the new one after a loss of power."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ddu.compare.load import load_runs
from ddu.compare.page import write_comparison
from ddu.errors import StoreError, UnreadableInput, WriteFailed
from ddu.export import FORMATS, export
from ddu.run import durable
from ddu.store.backup import backup
from ddu.store.directory import PASSWORDS, Address, StoreDirectory
from testsupport.fsyncs import fsyncs
from testsupport.store_runs import tabled, two_flows


@pytest.mark.parametrize("form", FORMATS)
def test_an_exported_table(tmp_path: Path, form: str) -> None:
    file = tmp_path / f"a.{form}"
    file.write_text("of an earlier time")
    with fsyncs() as done:
        export(pd.DataFrame({"t_s": [0.5]}), "aligned", file, form)
    done.need_whole(file)
    assert list(tmp_path.iterdir()) == [file]


def test_a_table_that_cannot_be_exported_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("of an earlier time")

    def full(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setitem(FORMATS, "csv", full)
    with pytest.raises(WriteFailed, match=r"a\.csv: cannot be written"):
        export(pd.DataFrame({"t_s": [0.5]}), "aligned", file, "csv")
    with pytest.raises(UnreadableInput, match=r"a\.csv: cannot be written"):
        export(pd.DataFrame({"t_s": [0.5]}), "aligned", tmp_path / "nowhere" / "a.csv", "csv")
    assert file.read_text() == "of an earlier time"
    assert list(tmp_path.iterdir()) == [file]


def test_two_that_write_a_file_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with durable.replacing(file) as first, durable.replacing(file) as second:
        first.write(b"first")
        second.write(b"second")
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]


def test_a_comparison(tmp_path: Path) -> None:
    runs = [tabled(two_flows(20).write(tmp_path / name, run=name)) for name in ("a", "b")]
    with fsyncs() as done:
        write_comparison(tmp_path / "compared", load_runs(runs, "run"), ("throughput_bps",), "run")
    for file in (tmp_path / "compared").iterdir():
        if file.is_file():
            done.need_whole(file)


def test_a_stores_address_and_passwords(tmp_path: Path) -> None:
    """A password that is lost with its file half written would be empty ever after."""
    place = StoreDirectory(tmp_path)
    with fsyncs() as done:
        place.make_passwords()
        place.remember(Address("private"))
    for file in (*((tmp_path / "secrets") / one for one in PASSWORDS), tmp_path / "store.json"):
        done.need_whole(file)
    assert {one.name for one in (tmp_path / "secrets").iterdir()} == set(PASSWORDS)
    assert {one.stat().st_mode & 0o777 for one in (tmp_path / "secrets").iterdir()} == {0o644}


def test_a_backup(empty_store: StoreDirectory, tmp_path: Path) -> None:
    with fsyncs() as done:
        backup(empty_store, tmp_path / "store.dump")
    done.need_whole(tmp_path / "store.dump")
    with pytest.raises(StoreError, match="cannot be written") as refused:
        backup(empty_store, tmp_path / "nowhere" / "store.dump")
    assert refused.value.exit_code == 2
    assert [one.name for one in tmp_path.iterdir()] == ["store.dump"]
