# SPDX-License-Identifier: Apache-2.0
"""Complex taps over time, as of Colosseum's scenarios and ray tracers: CSV with the columns
t_s (seconds), delay_ns_1, re_1, im_1 to delay_ns_4, re_4, im_4. Gains are amplitudes that
include the path loss: their mean power becomes the path loss, the remainder is fading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    FIGURE_DB,
    POWER_DBM,
    ImportedScenario,
    ImportOptions,
    last_step_s,
    not_too_long,
)
from ddu.console.problems import refusal

MOST_TAPS = 4
MOST_ROWS = 400_000
"""Keeps nr-link below 100 MB with four taps."""


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the taps as radio, with thermal noise at the UE."""
    columns_found = csv_table.names(file, ["t_s", "delay_ns_1", "re_1", "im_1"], "taps")
    count = sum(name.startswith("re_") for name in columns_found)
    if count > MOST_TAPS:
        raise refusal(
            f"{count} taps are more than {MOST_TAPS}",
            "merge taps with similar delays",
            file=file,
            line=1,
        )
    names = ["t_s", *(f"{part}_{n + 1}" for n in range(count) for part in ("delay_ns", "re", "im"))]
    csv_table.names(file, names, "taps")
    columns = csv_table.read(file, {name: pa.float64() for name in names})
    arrays = {name: csv_table.numbers(file, columns[name], name, 2) for name in names}
    csv_table.rising(file, arrays["t_s"], 2)
    if len(arrays["t_s"]) > MOST_ROWS:
        raise refusal(
            f"has more than {MOST_ROWS} rows",
            "reduce the sampling rate, or cut out a part",
            file=file,
        )
    arrays["t_s"] = arrays["t_s"] - arrays["t_s"][0]
    power = sum(arrays[f"re_{n + 1}"] ** 2 + arrays[f"im_{n + 1}"] ** 2 for n in range(count))
    mean_power = float(np.mean(power))
    if not mean_power > 0:
        raise refusal("no tap has power", "write amplitudes", file=file)
    for name in arrays:
        if name.startswith(("re_", "im_")):  # to a mean power of 1, as nr-link plays them
            arrays[name] = arrays[name] / np.sqrt(mean_power)
    t_s = arrays["t_s"]
    radio = {
        "ss_pbch_block_power_dbm": POWER_DBM,
        "level": {"path_loss_db": round(-10 * float(np.log10(mean_power)), 3)},
        "noise": {"figure_db": FIGURE_DB},
        "fading": {"tap_series": {"file": f"{options.name}.csv"}},
    }
    return ImportedScenario(
        duration_s=not_too_long(file, float(t_s[-1]) + last_step_s(t_s)),
        summary=f"{count} taps over time, from {file.name}.",
        sources=[f"Taps: {file.name}. Path loss: their mean power."],
        body={"radio": radio},
        columns={f"{options.name}.csv": arrays},
    )
