# SPDX-License-Identifier: Apache-2.0
"""Draws docs/nr-link-efficiency.svg from what `examples/efficiency.rs` measures.

Run from the root of the project: `.venv/bin/python nr-link/model/draw_efficiency.py`.
"""

import io
import subprocess
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent.parent
FIGURE = ROOT / "docs/nr-link-efficiency.svg"
COMMAND = ["cargo", "run", "-q", "--release", "-p", "nr-link-model", "--example", "efficiency"]
# Elements of a slot that carry data, over the time and width that the slot takes.
DATA_SHARE = 12 * 12 / (0.5e-3 * 12 * 30e3)


def main() -> None:
    said = subprocess.run(COMMAND, cwd=ROOT, check=True, capture_output=True, text=True)
    rows = pd.read_csv(io.StringIO(said.stdout))
    plt.rcParams["svg.hashsalt"] = "efficiency"
    figure, axes = plt.subplots(figsize=(7, 4))
    sinr_db = np.arange(-10, 35.1, 0.5)
    shannon = np.log2(1 + 10 ** (sinr_db / 10))
    axes.plot(sinr_db, shannon, "k-", lw=1, label="Shannon")
    axes.plot(sinr_db, shannon * DATA_SHARE, "k:", lw=1, label="Shannon, data elements only")
    for number, (table, of_table) in enumerate(rows.groupby("table", sort=False)):
        colour = f"C{number}"
        where = of_table["sinr_db"]
        axes.step(where, of_table["standard_bps_hz"], colour, where="post", lw=0.6, alpha=0.7)
        axes.plot(where, of_table["carried_bps_hz"], colour, marker=".", ms=4, lw=0, label=table)
    axes.set(xlabel="SINR, dB", ylabel="bit/s/Hz", xlim=(-10, 35), ylim=(0, 8))
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
