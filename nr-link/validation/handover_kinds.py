# SPDX-License-Identifier: Apache-2.0
"""Failures and interruption of each kind of handover over speed: the tables of docs/validation.md.

`handover_kinds.py SEEDS KM/H…` drives one UE once along the five cells of the scenario `corridor`
at each speed, with each kind and with SEEDS seeds. Its neighbours send in all resources.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ccu.scenarios import LIBRARY, link_config
from ccu.scenarios.resolve import resolve
from ddu.statistics import Interval, of_repeats, paired

ROOT = Path(__file__).parents[2]
KINDS: dict[str, dict[str, Any]] = {
    "a3": {"kind": "a3"},
    "cho": {"kind": "cho"},
    "cho, prepared 10 dB earlier": {"kind": "cho", "cho_margin_db": 10},
    "daps": {"kind": "daps"},
    "ltm": {"kind": "ltm"},
}
FAILURES = ("too_late", "too_early", "wrong_cell", "coverage", "lost")


def drive(folder: Path, speed_kmh: float) -> tuple[Path, float]:
    """Write `corridor` with one drive at a speed; return its file and how long it takes, s."""
    content = yaml.safe_load((LIBRARY / "corridor.yaml").read_text())
    first, last = (point["x_m"] for point in content["radio"]["mobility"]["route"][:2])
    lasts_s = round((last - first) / (speed_kmh / 3.6), 3)
    ends = ({"t_s": 0, "x_m": first, "y_m": 0}, {"t_s": lasts_s, "x_m": last, "y_m": 0})
    content["radio"]["mobility"]["route"] = list(ends)
    file = folder / "drive.yaml"
    file.write_text(
        yaml.safe_dump(content | {"name": "drive", "duration_s": lasts_s, "at_end": "stop"})
    )
    return file, lasts_s


def counts(handover: dict[str, Any], speed_kmh: float, seeds: int) -> pd.DataFrame:
    """Return a row for each seed: handovers, failures by class, ping-pongs."""
    with tempfile.TemporaryDirectory() as name:
        scenario, lasts_s = drive(Path(name), speed_kmh)
        flags = {"cc": "cubic", "scenario": str(scenario), "testbed": "virtual"}
        experiment = resolve(flags | {"handover": handover, "neighbour_load": "1"})
        link = link_config.write(experiment, scenario, Path(name))
        words = ["cargo", "run", "-q", "--release", "-p", "nr-link-model"]
        words += ["--example", "handover_failures", str(link), str(lasts_s), str(seeds)]
        output = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return pd.read_csv(StringIO(output.stdout))


def shown(interval: Interval, digits: int = 2) -> str:
    """Return a mean with its interval."""
    if interval.low is None or interval.high is None or interval.alike:
        return f"{interval.mean:.{digits}f}"
    return f"{interval.mean:.{digits}f} ({interval.low:.{digits}f}…{interval.high:.{digits}f})"


def main() -> None:
    seeds, speeds_kmh = int(sys.argv[1]), [float(word) for word in sys.argv[2:]]
    print("| km/h | kind | handovers | failures | too late | too early | wrong cell | same cell "
          "| ping-pongs | interruption, ms | failures less than a3's |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for speed in speeds_kmh:
        ordinary: pd.Series | None = None
        for kind, handover in KINDS.items():
            rows = counts(handover, speed, seeds)
            failures = rows[list(FAILURES)].sum(axis=1)
            ordinary = failures if ordinary is None else ordinary
            cells = [
                f"{speed:g}", kind, shown(of_repeats(list(rows["handovers"]))),
                shown(of_repeats(list(failures))),
                *(str(rows[name].sum()) for name in ("too_late", "too_early", "wrong_cell")),
                str(rows["coverage"].sum() + rows["lost"].sum()), str(rows["ping_pong"].sum()),
                f"{rows['interruption_ms'][rows['handovers'] > 0].mean():.1f}",
                shown(paired(list(failures), list(ordinary)).difference),
            ]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
