# SPDX-License-Identifier: Apache-2.0
"""Copies of foreign files. What would not fit, or would grow out of proportion, is refused before
it is written."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ddu.console.input_file import opened
from ddu.console.problems import refusal
from ddu.errors import UnreadableInput
from ddu.importing.survey import regular_size

if TYPE_CHECKING:
    from typing_extensions import Self

_ARCHIVES = (".tar.gz", ".tar.xz", ".tar.zst", ".tgz")
_LEFT_FREE_BYTES = 1_000_000_000
_SMALL_BYTES = 100_000_000
"""An archive may become as large as this, however small it is."""
_MOST_RATIO = 200
"""Beyond that, bytes for each byte of the archive. Captures of whole packets with equal payload
come to about 100."""
_MOST_ENTRIES = 1000
"""The most that an archive may have, in which one capture is looked for."""
_MOST_BYTES_OF_HEADER = 1 << 20


class _Member(tarfile.TarInfo):
    """A member whose long name or pax header, which is read into memory, has a limit."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)
        is_content = member.isreg() or member.type == tarfile.GNUTYPE_SPARSE
        if not is_content and member.size > _MOST_BYTES_OF_HEADER:
            raise tarfile.HeaderError(f"a header of {member.size} bytes")
        return member


def need_space(files: Iterable[Path], target: Path) -> None:
    """Raise RefusedError if the files do not fit into the folder's disk, archives not unpacked."""
    needed = sum(map(regular_size, files))
    free = shutil.disk_usage(target).free - _LEFT_FREE_BYTES
    _need_free(needed, free, target)


def copied(file: Path, target: Path) -> None:
    """Copy a regular file, with its times; no link is followed. Raises RefusedError."""
    with opened(file, links=False) as stream:
        state = os.fstat(stream.fileno())
        with target.open("xb") as to:
            shutil.copyfileobj(stream, to)
    os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))


def copy_capture(file: Path, raw: Path, role: str) -> str:
    """Copy a capture under the name of its role; out of a tar archive, its only member. Return the
    name. Raises RefusedError."""
    if file.name.endswith(_ARCHIVES):
        return _unpacked(file, raw / f"{role}.pcap")
    kind = ".pcapng" if ".pcapng" in file.name else ".pcap"
    packed = file.suffix if file.suffix in (".gz", ".zst") else ""
    target = raw / f"{role}{kind}{packed}"
    copied(file, target)
    return target.name


def _unpacked(file: Path, target: Path) -> str:
    try:
        with (
            opened(file, links=False) as stream,
            tarfile.open(fileobj=stream, tarinfo=_Member) as archive,
        ):
            member = _only_member(archive, file)
            packed = os.fstat(stream.fileno()).st_size
            if member.size > max(_SMALL_BYTES, packed * _MOST_RATIO):
                raise UnreadableInput(
                    file,
                    f"{packed} bytes that would become {member.size}: more than {_MOST_RATIO} for "
                    "each",
                    "unpack it yourself, if you trust it, and import the capture",
                )
            free = shutil.disk_usage(target.parent).free - _LEFT_FREE_BYTES
            _need_free(member.size, free, target.parent.parent.parent)
            content = archive.extractfile(member)
            if content is None:
                raise UnreadableInput(file, "its member cannot be read")
            with target.open("xb") as to:
                shutil.copyfileobj(content, to)
            # The digest of a compressed archive stands at its end, behind what tarfile reads.
            assert archive.fileobj is not None
            while archive.fileobj.read(1 << 20):
                pass
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise UnreadableInput(file, f"not a whole archive ({error})") from None
    return target.name


def _only_member(archive: tarfile.TarFile, file: Path) -> tarfile.TarInfo:
    files: list[tarfile.TarInfo] = []
    for number, member in enumerate(archive):
        if number == _MOST_ENTRIES:
            raise UnreadableInput(file, f"more than {_MOST_ENTRIES} entries in the archive")
        files += [member] if member.isfile() else []
    if len(files) != 1:
        raise UnreadableInput(file, f"{len(files)} files in the archive, not one capture")
    return files[0]


def _need_free(needed: int, free: int, target: Path) -> None:
    if needed > free:
        rule = f"{needed} bytes would be written, and {max(free, 0)} are free, 1 GB left aside"
        raise refusal(rule, "free some, or choose another folder with --runs", file=target)
