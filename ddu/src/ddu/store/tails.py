# SPDX-License-Identifier: Apache-2.0
"""Files that grow: each read returns whole rows that are new since the last one."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.csv import parsed_csv
from ddu.readers.sockets import read_sockets

_PCAP_HEADER_BYTES, _RECORD_HEADER_BYTES = 24, 16
_LITTLE_ENDIAN = (b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1")
"""Magic numbers of nanosecond and microsecond pcaps that a little-endian machine wrote."""
_LONGEST_RECORD_BYTES = 1 << 20


class Tail:
    """A file whose header describes its rows; only whole rows are read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._offset = 0
        """The position from which the next look reads."""
        self._header = b""

    def new_rows(self) -> pd.DataFrame | None:
        """Return new rows, or None. Raises UnreadableInput for a file of another kind."""
        raise NotImplementedError

    def _grown(self) -> bytes:
        """Return the bytes from the offset to the present end; none while there is no file."""
        try:
            with self._file.open("rb") as stream:
                stream.seek(self._offset)
                return stream.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise UnreadableInput(self._file, error.strerror or str(error)) from None


class CsvTail(Tail):
    """The lines of a CSV file with a header."""

    def new_rows(self) -> pd.DataFrame | None:
        content = self._grown()
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        if not self._header:
            self._header, _, whole = whole.partition(b"\n")
        if not whole:
            return None
        try:
            rows = parsed_csv(self._header + b"\n" + whole, dtype={"utc_ns": "int64"})
        except (ValueError, OverflowError) as error:
            raise UnreadableInput(self._file, f"not the CSV that it should be: {error}") from None
        if "utc_ns" not in rows:
            raise UnreadableInput(self._file, "no column utc_ns", line=1)
        return rows


class SocketTail(Tail):
    """The records of a socket sampler's capture."""

    def new_rows(self) -> pd.DataFrame | None:
        content = self._grown()
        if not self._header:
            if len(content) < _PCAP_HEADER_BYTES:
                return None
            self._header, content = content[:_PCAP_HEADER_BYTES], content[_PCAP_HEADER_BYTES:]
            self._offset = _PCAP_HEADER_BYTES
        whole = content[: self._whole_bytes(content)]
        if not whole:
            return None
        self._offset += len(whole)
        # The reader takes a path: of a file in memory, which needs no name and no disk.
        memory = os.memfd_create("sockets")
        try:
            with os.fdopen(os.dup(memory), "wb") as part:
                part.write(self._header + whole)
            rows: pd.DataFrame = read_sockets(f"/proc/self/fd/{memory}").table.to_pandas()
            return rows
        except UnreadableInput as error:
            raise UnreadableInput(self._file, error.problems[0].rule) from None
        finally:
            os.close(memory)

    def _whole_bytes(self, content: bytes) -> int:
        length = struct.Struct("<I" if self._header[:4] in _LITTLE_ENDIAN else ">I")
        end = 0
        while end + _RECORD_HEADER_BYTES <= len(content):
            (captured,) = length.unpack_from(content, end + 8)
            if captured > _LONGEST_RECORD_BYTES:
                raise UnreadableInput(self._file, f"no record begins at byte {self._offset + end}")
            if end + _RECORD_HEADER_BYTES + captured > len(content):
                break
            end += _RECORD_HEADER_BYTES + captured
        return end
