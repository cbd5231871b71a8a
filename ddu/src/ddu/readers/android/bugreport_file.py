# SPDX-License-Identifier: Apache-2.0
"""The text of a bugreport out of the zip that Android makes, bounded, whatever the zip pretends.

Source: AOSP frameworks/native/cmds/dumpstate, bugreport-format.md: main_entry.txt names the text.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ddu.errors import UnreadableInput

HEADER = b"== dumpstate: "
ZIP_NAME = re.compile(r"^(?:bugreport|dumpstate)\b.*\.zip$", re.IGNORECASE)
_ZIP_MAGIC = b"PK\x03\x04"
_MOST_BYTES = 512 << 20
"""Of text: a phone's has some 20 to 100 MB."""
_BLOCK_BYTES = 4 << 20
_HEAD_BYTES = 4096
_MAIN_ENTRY = "main_entry.txt"
_TEXT_NAME = re.compile(r"^(?:bugreport|dumpstate)(?!_log|_board)[\w.+-]*\.txt$")


def is_bugreport(file: Path) -> bool:
    """By its first bytes: a zip, or the text's header."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(_ZIP_MAGIC) or HEADER in head


def blocks(file: Path) -> Iterator[bytes]:
    """The text in blocks of whole lines.

    Raises UnreadableInput for what is no whole zip, a zip without a bugreport, and one of more than
    512 MiB.
    """
    try:
        with _text_of(file) as stream:
            yield from _of_stream(file, stream)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UnreadableInput(
            file, f"not a whole zip archive ({error})", "copy it from the phone again"
        ) from None
    except (NotImplementedError, RuntimeError) as error:
        raise UnreadableInput(file, str(error), "unpack it, and give its .txt") from None
    except OSError as error:
        raise UnreadableInput(file, error.strerror or str(error)) from None


@contextmanager
def _text_of(file: Path) -> Iterator[IO[bytes]]:
    with file.open("rb") as plain:
        if plain.read(len(_ZIP_MAGIC)) != _ZIP_MAGIC:
            plain.seek(0)
            yield plain
            return
        with zipfile.ZipFile(plain) as archive, archive.open(_entry(file, archive)) as packed:
            yield packed


def _entry(file: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The report itself: the one that the archive names, else the largest of such a name."""
    entries = {one.filename: one for one in archive.infolist()}
    if _MAIN_ENTRY in entries:
        with archive.open(_MAIN_ENTRY) as told:
            name = told.read(_HEAD_BYTES).decode(errors="replace").strip()
        if name in entries:
            return entries[name]
    named = [one for name, one in entries.items() if _TEXT_NAME.match(PurePosixPath(name).name)]
    if not named:
        raise UnreadableInput(
            file,
            f"no bugreport-*.txt among the {len(entries)} files of this zip",
            "give the zip that `adb bugreport` or the phone's developer options made",
        )
    return max(named, key=lambda one: one.file_size)


def _of_stream(file: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, some MiB at a time; what the file cuts within a line may be short of digits."""
    read_bytes = 0
    rest = b""
    while part := stream.read(_BLOCK_BYTES):
        read_bytes += len(part)
        if read_bytes > _MOST_BYTES:
            raise UnreadableInput(
                file,
                f"more than {_MOST_BYTES >> 20} MiB of text, which no phone's report has",
                "cut out `DUMP OF SERVICE telephony.registry` and give that as text",
            )
        end = part.rfind(b"\n") + 1
        if end:
            yield rest + part[:end]
        # Lines that fill a block are nothing that we look for.
        rest = part[end:] if end else b""
