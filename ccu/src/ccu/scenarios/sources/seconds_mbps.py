# SPDX-License-Identifier: Apache-2.0
"""Tables of `second Mbit/s`, separated by a comma or blanks. Comments (#) and one line of names may
come first."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    covered_s,
    rate_series,
)
from ddu.console.problems import refusal

MOST_MBPS = 100_000.0
"""A higher value is in bit/s or kbit/s."""
_AROUND = re.compile(rb"(?m)^[ \t]+|[ \t\r]+$")
_BETWEEN = re.compile(rb"[ \t]*,[ \t]*|[ \t]+")
_NAMES = re.compile(r"\"?[A-Za-z][^,]*?(?:\s*,\s*|\s+)\"?[A-Za-z].*")
"""A line of names of two columns."""


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the table as downlink, `options.ul` as uplink. The first timestamp becomes 0."""
    t_s, dl_mbps = look(file)
    sources = [f"Downlink: table of seconds and Mbit/s, {file.name}."]
    ul_mbps = None
    if options.ul:
        ul_t_s, ul_mbps = look(options.ul)
        if len(ul_t_s) != len(t_s) or not np.array_equal(ul_t_s, t_s):
            raise refusal(
                f"{options.ul}: has other timestamps than {file}", "give both with the same ones"
            )
        sources.append(f"Uplink: {options.ul.name}.")
    else:
        sources.append("Uplink: chosen, the downlink's highest rate.")
    return ImportedScenario(
        duration_s=covered_s(file, t_s),
        summary=f"Measured rates of {file.name}: {dl_mbps.mean():.1f} Mbit/s on average.",
        sources=sources,
        **rate_series(options, t_s, dl_mbps, ul_mbps),
    )


def look(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the seconds since the first one, and Mbit/s. Raises RefusedError."""
    csv_table.readable_text(file)
    heading = _heading(file)
    columns = csv_table.read(
        file,
        {"t_s": pa.float64(), "mbps": pa.float64()},
        column_names=["t_s", "mbps"],
        skip_lines=heading,
        text=_BETWEEN.sub(b",", _AROUND.sub(b"", file.read_bytes())),
    )
    t_s = csv_table.numbers(file, columns["t_s"], "the second", heading + 1)
    mbps = csv_table.numbers(file, columns["mbps"], "the rate", heading + 1)
    csv_table.rising(file, t_s, heading + 1)
    # The last rate would hold across a gap.
    csv_table.without_gaps(file, t_s, heading + 1)
    bad = np.flatnonzero((mbps < 0) | (mbps > MOST_MBPS))
    if len(bad):
        line = csv_table.line_of(file, int(bad[0]), heading + 1)
        raise refusal(
            f"{mbps[bad[0]]:g} is not between 0 and {MOST_MBPS:g} Mbit/s",
            "convert the whole column to Mbit/s",
            file=file,
            line=line,
        )
    return t_s - t_s[0], mbps


def _heading(file: Path) -> int:
    """Return the number of lines before the first sample. Raises RefusedError."""
    named = False
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream):
            if line.startswith("#") or not line.strip():
                continue
            if not named and _NAMES.fullmatch(line.strip()):
                named = True
                continue
            if len(re.split(r"\s*,\s*|\s+", line.strip())) < 2:
                raise refusal(
                    f"{line.strip()[:40]!r} is not two numbers",
                    "write `second Mbit/s`, with a comma or blanks between them (for a Mahimahi "
                    "trace, choose the format mahimahi)",
                    file=file,
                    line=number + 1,
                )
            return number
    raise refusal("holds comments only", "give a file with samples", file=file)
