# SPDX-License-Identifier: Apache-2.0
"""Draws the figures and the table of docs/scenarios.md from what nr-link makes of each scenario.

Run from the root of the project: `.venv/bin/python rf-scenarios/draw_figures.py`.
"""

import io
import re
import subprocess
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import yaml

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/scenarios"
PAGE = ROOT / "docs/scenarios.md"
SEED = 1
SEEDS_OF_TABLE = range(1, 11)
SECONDS = 100
STEP_MS = 10
COMMAND = ["cargo", "run", "-q", "--release", "-p", "nr-link-model", "--example", "observe", "--"]
# GHz, PRBs, kHz between subcarriers.
CARRIER = (3.6, 106, 30)
MM_WAVE_CARRIER = (28, 264, 120)
# What a source says of its first 100 s, drawn behind ours: rsrp_dbm and sinr_db.
REPORTED = {"rome-moderate": {"rsrp_dbm": (-60, -45), "sinr_db": (18, 38)}}
LABELS = {"rsrp_dbm": "RSRP, dBm", "sinr_db": "SINR, dB"}


def observe(file: Path, scenario: dict[str, Any], seed: int) -> pd.DataFrame:
    """The first 100 s, or all of a shorter one that stops, on a carrier that it is for."""
    mm_wave = "carrier_ghz" in scenario["radio"]
    stops = scenario.get("at_end") == "stop"
    seconds = min(SECONDS, scenario["duration_s"]) if stops else SECONDS
    arguments = [file, seed, seconds, STEP_MS, *(MM_WAVE_CARRIER if mm_wave else CARRIER)]
    played = subprocess.run(
        COMMAND + [str(argument) for argument in arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return pd.read_csv(io.StringIO(played.stdout))


def draw(name: str, seen: pd.DataFrame) -> None:
    """Both quantities over time, and their distributions."""
    figure, rows = plt.subplots(2, 2, figsize=(8, 4), width_ratios=(2.2, 1), layout="constrained")
    thinned = seen.iloc[:: len(seen) // 400]
    for (over_time, distribution), (column, label) in zip(rows, LABELS.items(), strict=True):
        over_time.plot(thinned["t_s"], thinned[column], linewidth=0.8)
        over_time.set(ylabel=label, xlim=(0, round(seen["t_s"].max())))
        quantiles = seen[column].quantile([share / 50 for share in range(51)])
        distribution.plot(quantiles, quantiles.index, linewidth=1.2)
        distribution.set(xlabel=label, ylabel="CDF", ylim=(0, 1))
        if low_high := REPORTED.get(name, {}).get(column):
            distribution.axvspan(*low_high, alpha=0.15, label="reported")
            distribution.legend(fontsize="small", frameon=False)
    rows[1][0].set_xlabel("time, s")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    tenths = re.sub(r"(\d+\.\d)\d+", r"\1", drawn.getvalue())  # of a point: a third of the size
    (FIGURES / f"{name}.svg").write_text(tenths)
    plt.close(figure)


def row(name: str, seen: pd.DataFrame) -> str:
    """One line of the page's table: mean, 5th and 95th percentile over several seeds."""
    cells = [f"[{name}](scenarios/{name}.svg)"]
    for column in LABELS:
        low, high = seen[column].quantile([0.05, 0.95])
        reported = REPORTED.get(name, {}).get(column)
        inside = (
            f"; {seen[column].between(*reported).mean():.0%} in {reported[0]}…{reported[1]}"
            if reported
            else ""
        )
        cells.append(f"{seen[column].mean():.1f} ({low:.1f}…{high:.1f}){inside}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Figures of seed 1, table over ten seeds."""
    plt.rcParams |= {
        "svg.fonttype": "none",
        "svg.hashsalt": "scenarios",
        "axes.grid": True,
        "grid.alpha": 0.3,
    }
    FIGURES.mkdir(exist_ok=True)
    rows = []
    for file in sorted((ROOT / "rf-scenarios").glob("*.yaml")):
        scenario = yaml.safe_load(file.read_text())
        if "radio" not in scenario:
            continue
        drawn = {seed: observe(file, scenario, seed) for seed in SEEDS_OF_TABLE}
        draw(file.stem, drawn[SEED])
        rows.append(row(file.stem, pd.concat(drawn.values())))
    table = "\n".join(["| scenario | RSRP, dBm | SINR, dB |", "|---|---|---|", *rows])
    marked = re.compile(r"(<!-- drawn -->\n).*(<!-- /drawn -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda marks: marks[1] + table + "\n" + marks[2], PAGE.read_text()))


if __name__ == "__main__":
    main()
