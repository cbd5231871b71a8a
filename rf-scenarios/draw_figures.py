# SPDX-License-Identifier: Apache-2.0
"""Draw the figures and the table of docs/scenarios.md from nr-link's output for each scenario.

Run from the root of the project: `.venv/bin/python rf-scenarios/draw_figures.py [NAME …]` draws the
named ones only; without names it draws all and writes the table.
"""

import re
import sys
from collections.abc import Iterator

import pandas as pd

from ccu.scenarios import LIBRARY, library
from ccu.scenarios.play import experiment, play
from ccu.scenarios.show import Reported, draw

FIGURES = LIBRARY.parent / "docs/scenarios"
PAGE = LIBRARY.parent / "docs/scenarios.md"
SEED = 1
SEEDS_OF_TABLE = range(1, 11)
STEP_MS = 20
DRAWN = ("rsrp_dbm", "sinr_db", "dl_mcs", "dl_capacity_mbps")
# Ranges from the sources: drawn behind our values and compared in the table.
REPORTED: dict[str, Reported] = {
    "rome-moderate": {"rsrp_dbm": (-60, -45), "sinr_db": (18, 38)},
    "cellular-3g": {"dl_capacity_mbps": (0, 5)},
    "cellular-4g": {"dl_capacity_mbps": (0, 20)},
}
HEAD = "| scenario | RSRP, dBm | SINR, dB | capacity DL, Mbit/s | in the source |\n|-|-|-|-|-|"


def seen(name: str, seed: int) -> pd.DataFrame:
    """Return the first 100 s, or all of a shorter scenario, on the carrier that it is for."""
    return play(experiment(name, {"seed": seed}), interval_ms=STEP_MS)


def figure(name: str) -> None:
    file = FIGURES / f"{name}.svg"
    shown = seen(name, SEED)[["t_s", *DRAWN]].assign(ul_capacity_mbps=None)
    draw(shown, file, f"{name}, seed {SEED}", REPORTED.get(name), most_points=200)
    print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


def row(name: str, of_source: str) -> str:
    """Return one line of the table: mean, 5th and 95th percentile over ten seeds."""
    all_seeds = pd.concat(seen(name, seed) for seed in SEEDS_OF_TABLE)
    cells = [f"[{name}](scenarios/{name}.svg)"]
    for column in ("rsrp_dbm", "sinr_db", "dl_capacity_mbps"):
        values = all_seeds[column].dropna()
        if values.empty:
            cells.append("")
            continue
        low, high = values.quantile([0.05, 0.95])
        cells.append(f"{values.mean():.1f} ({low:.1f}…{high:.1f})")
        if limits := REPORTED.get(name, {}).get(column):
            share = values.between(*limits).mean()
            of_source += (
                f"{'; ' if of_source else ''}{share:.0%} of our values in {limits[0]}…{limits[1]}"
            )
    return "| " + " | ".join([*cells, of_source]) + " |"


OF_SOURCE = {
    "rome-moderate": "RSRP -60…-45, SNR mostly 18…38",
    "urban-mmwave": "824.8 Mbit/s of UDP behind 1 Gbit/s: see below",
    "mmwave-walking": "547 (9…1380): see below",
    "mmwave-driving": "306 (13…1010): see below",
    "cellular-3g": "highest: 5",
    "cellular-4g": "highest: 20",
    "congested-reverse": "100; ACKs behind 102.9 of UDP",
    "lan": "100",
    "wan-1": "1",
    "wan-2": "100",
    "wifi-2.4": "CUBIC got 124.7",
    "wifi-5": "CUBIC got 357.1",
    "surge-100M-720M": "100, then 720",
    "decline-720M-100M": "720, then 100",
    "decline-720M-600M": "720, then 600",
    "drop-720M-600M": "720, then 600",
    "drop-720M-100M": "720, then 100",
    "step-300M-600M": "300, 600, 300",
}


def rows() -> Iterator[str]:
    for name in library():
        yield row(name, OF_SOURCE.get(name, ""))


def main() -> None:
    """Draw the figures for seed 1 and write the table over ten seeds."""
    FIGURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or library():
        figure(name)
    if sys.argv[1:]:
        return
    table = "\n".join([HEAD, *rows()])
    marked = re.compile(r"(<!-- drawn -->\n).*(<!-- /drawn -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda marks: marks[1] + table + "\n" + marks[2], PAGE.read_text()))


if __name__ == "__main__":
    main()
