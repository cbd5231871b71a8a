# SPDX-License-Identifier: Apache-2.0
"""Packed files, whose content has the limit of plain ones: a small file may unpack to any size."""

from __future__ import annotations

import lzma
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ccu.scenarios.sources import csv_table
from ddu.console.input_file import opened
from ddu.console.problems import RefusedError, refusal

_BLOCK_BYTES = 1 << 20


def copy_xz(file: Path, to: BinaryIO) -> None:
    """Write the content of an xz file. Raises RefusedError if it has too much, LZMAError, OSError,
    or EOFError."""
    size = 0
    with opened(file) as stream, lzma.open(stream) as packed:
        while block := packed.read(_BLOCK_BYTES):
            size += len(block)
            need_small(size, file)
            to.write(block)


def need_small_arrays(file: Path, *names: str) -> None:
    """Raise RefusedError for a numpy archive whose arrays of these names are too large, as its
    directory says; no more of them is ever read. Raises BadZipFile."""
    wanted = {*names, *(f"{name}.npy" for name in names)}
    with zipfile.ZipFile(file) as archive:
        sizes = [one.file_size for one in archive.infolist() if one.filename in wanted]
    need_small(sum(sizes), file)


def converted(file: Path, values: np.ndarray, kind: type[complex] | type[float]) -> np.ndarray:
    """Return an array of a file as one of `kind`, which may take 16 times the bytes. Raises
    RefusedError if it has too many then."""
    need_small(values.size * np.dtype(kind).itemsize, file)
    return np.asarray(values, kind)


def need_small(size: int, file: Path) -> None:
    """Raise RefusedError if a file unpacks to too many bytes."""
    if size > csv_table.LARGEST_BYTES:
        raise too_large(file)


def too_large(file: Path) -> RefusedError:
    """Return the refusal of a file that unpacks to too many bytes."""
    return refusal(
        f"unpacks to more than {csv_table.LARGEST_BYTES} bytes",
        "cut out the part that is to be played",
        file=file,
    )
