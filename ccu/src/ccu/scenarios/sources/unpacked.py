# SPDX-License-Identifier: Apache-2.0
"""Packed files, whose content has the limit of plain ones: a small file may unpack to any size."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ccu.scenarios.sources import csv_table
from ddu.console.input_file import opened
from ddu.console.problems import refusal

_BLOCK_BYTES = 1 << 20
_MAT_HEADER_BYTES = 128
_MAT_ENDS = {b"IM": "<", b"MI": ">"}
_MAT_COMPRESSED = 15


def copy_xz(file: Path, to: BinaryIO) -> None:
    """Write the content of an xz file. Raises RefusedError if it has too much, LZMAError, OSError,
    or EOFError."""
    size = 0
    with opened(file) as stream, lzma.open(stream) as packed:
        while block := packed.read(_BLOCK_BYTES):
            size += len(block)
            _need_small(size, file)
            to.write(block)


def need_small_arrays(file: Path, *names: str) -> None:
    """Raise RefusedError for a numpy archive whose arrays of these names are too large, as its
    directory says; no more of them is ever read. Raises BadZipFile."""
    with zipfile.ZipFile(file) as archive:
        wanted = {f"{name}.npy" for name in names}
        sizes = [one.file_size for one in archive.infolist() if one.filename in wanted]
    _need_small(sum(sizes), file)


def need_small_variables(file: Path) -> None:
    """Raise RefusedError for a MAT file whose compressed variables are too large; their size stands
    nowhere before them, so they are unpacked in blocks that are not kept."""
    size = 0
    with opened(file) as stream:
        for block in _mat_blocks(stream):
            size += len(block)
            _need_small(size, file)


def _mat_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what the compressed variables of a MAT file of version 5 have, as far as it is
    whole."""
    order = _MAT_ENDS.get(stream.read(_MAT_HEADER_BYTES)[-2:])
    while order and len(tag := stream.read(8)) == 8:
        kind, length = struct.unpack(f"{order}II", tag)
        if kind != _MAT_COMPRESSED:
            stream.seek(length, 1)
            continue
        unpacker = zlib.decompressobj()
        while length and (packed := stream.read(min(length, _BLOCK_BYTES))):
            length -= len(packed)
            while packed and not unpacker.eof:
                try:
                    yield unpacker.decompress(packed, _BLOCK_BYTES)
                except zlib.error:  # The reader says what is wrong.
                    return
                packed = unpacker.unconsumed_tail


def _need_small(size: int, file: Path) -> None:
    if size > csv_table.LARGEST_BYTES:
        raise refusal(
            f"unpacks to more than {csv_table.LARGEST_BYTES} bytes",
            "cut out the part that is to be played",
            file=file,
        )
