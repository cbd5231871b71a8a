# SPDX-License-Identifier: Apache-2.0
"""RTT over idle time: settings of rf-scenarios/drx against RRC-Probe's measurements.

`rrc_probe.py FOLDER` needs the public CSV files of RRC-Probe (Narayanan et al., SIGCOMM 2021) in
FOLDER. It prints the table of docs/validation.md and writes docs/validation/rrc-probe.svg.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from ccu.scenarios import link_config, locate
from ccu.scenarios.resolve import resolve
from ddu.report.figure import Figure, Plot, Series
from ddu.report.palette import sequence
from ddu.report.svg import rendered

ROOT = Path(__file__).parents[2]
NETWORKS = {
    "sa-low-band": ("S20US_TMobile_SA.csv", "64ms"),
    "nsa-low-band": ("SALMONBERRY_299_Verizon_NSAlow.csv", "48ms"),
}
"""The measurement that each setting follows, and an RTT of the path: the least RTTs agree."""
LONGEST_S = 20
MOST_MS = 1800
"""The longest RTT that the figure shows."""
CYCLES_MS = (10, 20, 32, 40, 60, 64, 70, 80, 128, 160, 256, 320, 512, 640, 1280, 2560)


def measured(file: Path) -> pd.DataFrame:
    """Return `interval` in s and `rtt_ms` of the probes that RRC-Probe keeps."""
    rows = pd.read_csv(file)
    rows = rows[(rows["KeepOrDrop"] == "YEP") & (rows["RTT1"] > 0)]
    return rows.rename(columns={"RTT1": "rtt_ms"})[["interval", "rtt_ms"]]


def modelled(setting: str, rtt: str) -> pd.DataFrame:
    """Return the same columns of nr-link's model with a setting of DRX."""
    flags = {"cc": "cubic", "scenario": "static", "testbed": "virtual", "drx": setting, "rtt": rtt}
    experiment = resolve(flags)
    with tempfile.TemporaryDirectory() as folder:
        link = link_config.write(experiment, locate("static"), Path(folder))
        words = ["cargo", "run", "-q", "--release", "-p", "nr-link-model", "--example", "idle_rtt"]
        command = [*words, str(link), str(LONGEST_S)]
        output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return pd.read_csv(StringIO(output.stdout))


def cycle_ms(rows: pd.DataFrame, from_s: float, to_s: float) -> int:
    """Return the cycle in which RTT falls as idle time grows: a packet waits for the next one.

    Of the standard's cycles that at which interval + RTT is most concentrated (mean resultant
    length); of a cycle and its parts, which are as concentrated, the longest.
    """
    inside = rows[(rows["interval"] > from_s) & (rows["interval"] < to_s)]
    at_ms = inside["interval"] * 1e3 + inside["rtt_ms"]

    def length(period: int) -> float:
        return float(abs(np.exp(2j * np.pi * (at_ms % period) / period).mean()))

    best = max(length(period) for period in CYCLES_MS)
    return max(period for period in CYCLES_MS if length(period) > 0.9 * best)


def described(rows: pd.DataFrame) -> list[str]:
    """Return the cells of the table: cycles, and RTT after idle times."""
    spread = []
    for from_s, to_s in ((1, 9.5), (10.5, 14.5), (16, LONGEST_S)):
        inside = rows[(rows["interval"] > from_s) & (rows["interval"] < to_s)]["rtt_ms"]
        low, median, high = inside.quantile([0.1, 0.5, 0.9])
        spread.append(f"{median:.0f} ({low:.0f}…{high:.0f})")
    return [f"{cycle_ms(rows, 1, 9.5)} ms", f"{cycle_ms(rows, 16, LONGEST_S)} ms", *spread]


def draw(all_rows: dict[str, tuple[pd.DataFrame, pd.DataFrame]], file: Path) -> None:
    """Write the figure: one panel for each network."""
    plots: list[Plot] = []
    for setting, kinds in all_rows.items():
        dots = []
        for rows, name, colour in zip(kinds, ("RRC-Probe", "model"), sequence(2), strict=True):
            shown = rows[(rows["interval"] < LONGEST_S) & (rows["rtt_ms"] < MOST_MS)]
            points = shown["interval"].to_numpy(), shown["rtt_ms"].to_numpy(dtype="float64")
            dots.append(Series(*points, colour, name, "dots", in_legend=not plots))
        plots.append(Plot(dots, y_label="RTT (ms)", title=setting, y_from_zero=True))
    plots[-1:] = [replace(plot, x_label="idle time before the packet (s)") for plot in plots[-1:]]
    file.write_text(rendered(Figure(plots, 1, 260, shared_x=True)))


def main() -> None:
    folder = Path(sys.argv[1])
    times = ("1 to 9.5 s", "10.5 to 14.5 s", "after 16 s")
    heads = [f"cycle, {times[0]}", f"cycle, {times[2]}", *(f"RTT, ms, {one}" for one in times)]
    print(f"| setting | | {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|")
    pairs = {}
    for setting, (name, rtt) in NETWORKS.items():
        pairs[setting] = (measured(folder / name), modelled(setting, rtt))
        for kind, rows in zip(("measured", "model"), pairs[setting], strict=True):
            print(f"| {setting} | {kind} | {' | '.join(described(rows))} |")
    draw(pairs, ROOT / "docs" / "validation" / "rrc-probe.svg")


if __name__ == "__main__":
    main()
