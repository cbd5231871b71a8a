# SPDX-License-Identifier: Apache-2.0
"""A CSV that another program wrote: its header, and its lines as cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.logs import content_of, whole_lines


class ForeignCsv:
    """`names` are the header's; `truncated_at` is as `ddu.readers.logs.whole_lines` gives it.

    Raises UnreadableInput when the file is not CSV.
    """

    def __init__(self, file: Path) -> None:
        text, self.truncated_at = whole_lines(content_of(file))
        try:
            lines = list(csv.reader(io.StringIO(text)))
        except csv.Error as error:
            raise UnreadableInput(file, f"not valid CSV: {error}") from None
        self.file = file
        self.names = [name.strip() for name in lines[0]] if lines else []
        self._lines = lines[1:]

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of each line that has any. Raises UnreadableInput at other lengths."""
        for index, cells in enumerate(self._lines, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(self.names):
                raise UnreadableInput(
                    self.file,
                    f"{len(cells)} fields, the header has {len(self.names)}",
                    line=index,
                )
            yield cells
