# SPDX-License-Identifier: Apache-2.0
"""A file that a command has written is the old one or the new one after a loss of power."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
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


def test_many_that_write_a_file_at_once(tmp_path: Path) -> None:
    """Reports of one campaign, by two commands: one had removed the other's unfinished file."""
    file = tmp_path / "report.html"

    def write(number: int) -> None:
        for _ in range(50):
            durable.replace_text(file, str(number) * 1000)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(file.read_text()) == 1000
    assert list(tmp_path.iterdir()) == [file]


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    left, other = (tmp_path / f".{name}-0123abcd" for name in ("a.dump", "b.dump"))
    for one in (left, other):
        one.write_text("half")
        os.utime(one, (0, 0))
    with durable.replacing(tmp_path / "a.dump"):
        made = {one.name for one in tmp_path.glob(".a.dump-*")} - {left.name}
        with durable.replacing(tmp_path / "a.dump"):
            assert made <= {one.name for one in tmp_path.iterdir()}
    assert {one.name for one in tmp_path.iterdir()} == {"a.dump", other.name}


def test_a_device_is_written_as_it_is() -> None:
    durable.replace_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
    assert not list(Path("/dev").glob(".null-*"))


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_that_syncs_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: bool
) -> None:
    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="Input/output error") if fails else nullcontext():
        durable.replace_text(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"


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
