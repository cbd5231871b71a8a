# SPDX-License-Identifier: Apache-2.0
"""Complex taps over time, as of Colosseum's scenarios and ray tracers: CSV with the columns
t_s (seconds), delay_ns_1, re_1, im_1 to delay_ns_4, re_4, im_4. Gains are amplitudes that
include the path loss: their mean power becomes the path loss, the remainder is fading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions
from ccu.scenarios.sources.impulse_response import MOST_TAPS, ImpulseResponse, scenario
from ddu.console.problems import refusal


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

    def taps(part: str) -> np.ndarray:
        return np.stack([arrays[f"{part}_{n + 1}"] for n in range(count)], axis=1)

    gains = taps("re") + 1j * taps("im")
    response = ImpulseResponse(arrays["t_s"] - arrays["t_s"][0], gains, taps("delay_ns"))
    return scenario(file, options, response, f"Taps: {file.name}.")
