# SPDX-License-Identifier: Apache-2.0
"""Tables of `second Mbit/s`, separated by a tab, a space or a comma; # begins a comment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    last_step_s,
    not_too_long,
    rate_series,
)
from ddu.console.problems import refusal

MOST_MBPS = 100_000.0
"""A higher value is in bit/s or kbit/s."""


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
        duration_s=not_too_long(file, float(t_s[-1]) + last_step_s(t_s)),
        summary=f"Measured rates of {file.name}: {dl_mbps.mean():.1f} Mbit/s on average.",
        sources=sources,
        **rate_series(options, t_s, dl_mbps, ul_mbps),
    )


def look(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the seconds since the first one, and Mbit/s. Raises RefusedError."""
    csv_table.opened(file)
    delimiter, comments = _form(file)
    columns = csv_table.read(
        file,
        {"t_s": pa.float64(), "mbps": pa.float64()},
        column_names=["t_s", "mbps"],
        delimiter=delimiter,
        skip_lines=comments,
    )
    t_s = csv_table.numbers(file, columns["t_s"], "the second", comments + 1)
    mbps = csv_table.numbers(file, columns["mbps"], "the rate", comments + 1)
    csv_table.rising(file, t_s, comments + 1)
    bad = np.flatnonzero((mbps < 0) | (mbps > MOST_MBPS))
    if len(bad):
        line = csv_table.line_of(file, int(bad[0]), comments + 1)
        raise refusal(
            f"{mbps[bad[0]]:g} is not between 0 and {MOST_MBPS:g} Mbit/s",
            "convert the whole column to Mbit/s",
            file=file,
            line=line,
        )
    return t_s - t_s[0], mbps


def _form(file: Path) -> tuple[str, int]:
    """Return the separator of the numbers and the number of leading comment lines."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        for comments, line in enumerate(stream):
            if not line.startswith("#"):
                between = [mark for mark in "\t, " if mark in line.strip()]
                if not between:
                    raise refusal(
                        f"{line.strip()[:40]!r} is not two numbers",
                        "write `second Mbit/s` (for a Mahimahi trace, choose the format mahimahi)",
                        file=file,
                        line=comments + 1,
                    )
                return between[0], comments
    raise refusal("holds comments only", "give a file with samples", file=file)
