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
            lines = list(enumerate(csv.reader(io.StringIO(text)), start=1))
        except csv.Error as error:
            raise UnreadableInput(file, f"not valid CSV: {error}") from None
        self.file = file
        # Lines before the header may be blank in a pasted file.
        self._lines = [(at, cells) for at, cells in lines if any(cell.strip() for cell in cells)]
        self.names = (
            [name.strip("\ufeff ") for name in self._lines.pop(0)[1]] if self._lines else []
        )

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of each line that has any. Raises UnreadableInput at other lengths."""
        for index, cells in self._lines:
            if len(cells) != len(self.names):
                raise UnreadableInput(
                    self.file, f"{len(cells)} fields, the header has {len(self.names)}", line=index
                )
            yield cells
