# SPDX-License-Identifier: Apache-2.0
"""Folders that somebody prepared to have `ddu import` read or write what it must not."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ddu.console.problems import RefusedError
from ddu.importing import copying
from ddu.importing.run import import_folder
from ddu.importing.survey import survey


def archive(file: Path, *sizes: int) -> None:
    """An archive of files of zeros."""
    with tarfile.open(file, "w:gz") as tar:
        for number, size in enumerate(sizes):
            member = tarfile.TarInfo(f"{number}.pcap")
            member.size = size
            tar.addfile(member, io.BytesIO(bytes(size)))


def secret(folder: Path) -> Path:
    file = folder.parent / "secret"
    file.write_text("root:x")
    return file


def linked_series(folder: Path) -> None:
    (folder / "csv_data").mkdir()
    (folder / "csv_data/a.csv").symlink_to(secret(folder))


PREPARED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda folder: (folder / "a.log").symlink_to(secret(folder)), "a.log: is a link"),
    "a link as capture": (
        lambda folder: (folder / "ue_DL.pcap").symlink_to(secret(folder)),
        "ue_DL.pcap: is a link",
    ),
    "a link to a folder": (
        lambda folder: (folder / "csv_data").symlink_to("/etc"),
        "csv_data: is a link",
    ),
    "a link in the folder of series": (
        linked_series,
        "a.csv: is a link",
    ),
    "a named pipe": (lambda folder: os.mkfifo(folder / "core.cc"), "core.cc: is a named pipe"),
    "a name of two lines": (
        lambda folder: (folder / "a\nrun: tmp").write_text("x"),
        "control characters. Rename it",
    ),
    "a name of colours": (lambda folder: (folder / "a\033[2J").write_text("x"), "control char"),
}


@pytest.mark.parametrize("name", PREPARED)
def test_what_is_not_a_plain_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "theirs_DL"
    folder.mkdir()
    (folder / "core_DL.pcap").write_bytes(b"")
    prepare, message = PREPARED[name]
    prepare(folder)
    with pytest.raises(RefusedError, match=message.replace(".", r"\.")):
        import_folder(folder, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_named_pipe_that_is_named_is_refused(tmp_path: Path) -> None:
    folder, pipe = tmp_path / "theirs_DL", tmp_path / "pipe.pcap"
    folder.mkdir()
    (folder / "core_DL.pcap").write_bytes(b"")
    os.mkfifo(pipe)
    with pytest.raises(RefusedError, match="is a named pipe"):
        import_folder(folder, tmp_path / "runs", hosts={"ue": pipe})
    assert not list((tmp_path / "runs").iterdir())


def test_an_archive_that_grows_out_of_proportion_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_SMALL_BYTES", 100_000)
    file = tmp_path / "core.pcap.tar.gz"
    archive(file, 1_000_000)
    with pytest.raises(RefusedError, match="more than 200 for each"):
        copying.copy_capture(file, tmp_path, "sender")
    assert sorted(one.name for one in tmp_path.iterdir()) == [file.name]


def test_an_archive_of_many_entries_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_MOST_ENTRIES", 3)
    file = tmp_path / "core.pcap.tar.gz"
    archive(file, 1, 1, 1, 1)
    with pytest.raises(RefusedError, match="more than 3 entries"):
        copying.copy_capture(file, tmp_path, "sender")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large.pcap"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 43)
    with pytest.raises(RefusedError, match="8796093022208 bytes would be written"):
        copying.need_space([file], tmp_path)


def test_a_folder_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ddu.importing.survey._MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text("")
    with pytest.raises(RefusedError, match="has 3 files, more than 2"):
        survey(tmp_path)


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "server.tar.gz"
    name = tarfile.TarInfo("name")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 2 << 20
    file.write_bytes(gzip.compress(name.tobuf(tarfile.GNU_FORMAT) + bytes(name.size)))
    with pytest.raises(RefusedError, match="a header of 2097152 bytes"):
        copying.copy_capture(file, tmp_path, "server")
