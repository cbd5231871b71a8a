# SPDX-License-Identifier: Apache-2.0
"""Draw the transport blocks of a capture of the MAC, as tshark dissects them.

`.venv/bin/python docs/pictures/mac_pcap.py RUN/raw/mac.pcap FROM_MS TO_MS FILE.svg`
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from ddu.report.figure import Figure, Plot, Series
from ddu.report.palette import colour_of
from ddu.report.svg import rendered

FIELDS = ("frame.time_relative", "frame.len", "mac-nr.ueid", "mac-nr.direction")
WAYS = {"1": "downlink", "0": "uplink"}


def main() -> None:
    """Draw one plot for each direction, with a colour for each UE."""
    file, begin_ms, end_ms, target = sys.argv[1:]
    words = [word for field in FIELDS for word in ("-e", field)]
    ran = subprocess.run(
        ["tshark", "-r", file, "--enable-heuristic", "mac_nr_udp", "-T", "fields", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    blocks = np.array([line.split("\t") for line in ran.stdout.splitlines()])
    t_ms = blocks[:, 0].astype(float) * 1e3
    shown = (t_ms >= float(begin_ms)) & (t_ms < float(end_ms))
    plots = []
    for number, name in WAYS.items():
        series = []
        for index, ue in enumerate(sorted(set(blocks[:, 2]))):
            mine = shown & (blocks[:, 2] == ue) & (blocks[:, 3] == number)
            series.append(
                Series(
                    t_ms[mine], blocks[mine, 1].astype(float), colour_of(("cubic", "vegas")[index]),
                    name=f"UE {ue}", kind="bars", bar_width=0.35, in_legend=number == "1",
                )
            )  # fmt: skip
        title = f"Transport blocks, {name}"
        below = "ms" if number == "0" else ""
        plots.append(Plot(series, below, "bytes", title=title, y_from_zero=True))
    Path(target).write_text(rendered(Figure(plots, across=1, row_px=170, shared_x=True)))


if __name__ == "__main__":
    main()
