# SPDX-License-Identifier: Apache-2.0
"""The reader of an Android bugreport's text, zipped or not, with a limit on its size.

Source: AOSP frameworks/native/cmds/dumpstate, bugreport-format.md: main_entry.txt names the text.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ddu.console.problems import refusal

HEADER = b"== dumpstate: "
ZIP_NAME = re.compile(r"^(?:bugreport|dumpstate)(?![a-z]).*\.zip$", re.IGNORECASE)
_ZIP_MAGIC = b"PK\x03\x04"
_MOST_BYTES = 512 << 20
"""The limit of the text's size: a phone's has some 20 to 100 MB."""
_BLOCK_BYTES = 4 << 20
_HEAD_BYTES = 4096
_MAIN_ENTRY = "main_entry.txt"
_TEXT_NAME = re.compile(
    r"^(?:bugreport|dumpstate)(?!_log|_board)[\w.+-]*\.(?:txt|log)$", re.IGNORECASE
)
"""Samsung's is dumpState_….log."""


def is_bugreport(file: Path) -> bool:
    """Return whether the first bytes are those of a zip, or have the text's header."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(_ZIP_MAGIC) or HEADER in head


def blocks(file: Path) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines.

    Raises RefusedError for a damaged zip, a zip without a bugreport, and more than 512 MiB of text.
    """
    try:
        with _text_of(file) as stream:
            yield from _whole_lines(file, stream)
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise refusal(
            f"not a whole zip archive ({error})", "copy it from the phone again", file=file
        ) from None
    except (NotImplementedError, RuntimeError) as error:
        raise refusal(str(error), "unpack it, and give its .txt", file=file) from None
    except OSError as error:
        raise refusal(error.strerror or str(error), file=file) from None


@contextmanager
def _text_of(file: Path) -> Iterator[IO[bytes]]:
    with file.open("rb") as plain:
        if plain.read(len(_ZIP_MAGIC)) != _ZIP_MAGIC:
            plain.seek(0)
            yield plain
            return
        with zipfile.ZipFile(plain) as archive, archive.open(_entry(file, archive)) as packed:
            if not ZIP_NAME.match(PurePosixPath(packed.name).name):
                yield packed
                return
            with tempfile.TemporaryFile() as inner:
                _copy(file, packed, inner)
                with zipfile.ZipFile(inner) as own, own.open(_entry(file, own, ())) as text:
                    yield text


def _copy(file: Path, packed: IO[bytes], to: IO[bytes]) -> None:
    """Copy a zip within a zip to where it can be read at random."""
    while part := packed.read(_BLOCK_BYTES):
        to.write(part)
        if to.tell() > _MOST_BYTES:
            raise refusal(
                f"a zip of more than {_MOST_BYTES >> 20} MiB in it", "unpack that one", file=file
            )


def _entry(
    file: Path, archive: zipfile.ZipFile, else_named: tuple[re.Pattern[str], ...] = (ZIP_NAME,)
) -> zipfile.ZipInfo:
    """Return the report's entry: the one that the archive names, else the largest of such a name,
    else a zip of such a name, as Xiaomi's are within a zip of further logs."""
    entries = {one.filename: one for one in archive.infolist()}
    if _MAIN_ENTRY in entries:
        with archive.open(_MAIN_ENTRY) as entry:
            name = entry.read(_HEAD_BYTES).decode(errors="replace").strip()
        if name in entries:
            return entries[name]
    for pattern in (_TEXT_NAME, *else_named):
        named = [one for name, one in entries.items() if pattern.match(PurePosixPath(name).name)]
        if named:
            break
    else:
        raise refusal(
            f"no bugreport-*.txt among the {len(entries)} files of this zip",
            "give the zip that `adb bugreport` or the phone's developer options made",
            file=file,
        )
    return max(named, key=lambda one: one.file_size)


def _whole_lines(file: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield whole lines, some MiB at a time; a line that the file's end cuts is dropped."""
    read_bytes = 0
    rest = b""
    while part := stream.read(_BLOCK_BYTES):
        read_bytes += len(part)
        if read_bytes > _MOST_BYTES:
            raise refusal(
                f"more than {_MOST_BYTES >> 20} MiB of text, which no phone's report has",
                "cut out `DUMP OF SERVICE telephony.registry` and give that as text",
                file=file,
            )
        end = part.rfind(b"\n") + 1
        if end:
            yield rest + part[:end]
        # A line that fills a whole block is dropped: no line of interest is that long.
        rest = part[end:] if end else b""
