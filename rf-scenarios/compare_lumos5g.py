# SPDX-License-Identifier: Apache-2.0
"""Compare mmwave-walking and mmwave-driving with the traces of Lumos5G; writes docs/scenarios.md.

Only statistics and cumulative distributions leave this program. Run from the root:
`.venv/bin/python rf-scenarios/compare_lumos5g.py ../shared/data/traces/lumos5g`.
"""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import yaml
from fit_links import fit
from scipy.stats import ks_2samp

from ccu.scenarios import LIBRARY
from ccu.scenarios.play import duration_s, experiment, play
from ccu.scenarios.statistics import LAGS_S, LinkStatistics, link_statistics
from ddu.report import svg
from ddu.report.figure import Figure, Plot, Series
from ddu.report.palette import INK, sequence

LINKS = range(1, 31)
KINDS = ("walking", "driving")
PAGE = LIBRARY.parent / "docs/scenarios.md"
FIGURE = LIBRARY.parent / "docs/scenarios/lumos5g.svg"
LABELS = {
    "mean_mbps": "mean, Mbit/s",
    "std_mbps": "standard deviation, Mbit/s",
    "max_mbps": "maximum, Mbit/s",
    "dead_ratio": "dead zone (below 10 Mbit/s), share of time",
    "drops_per_minute": "falls from 500 to 250 Mbit/s within 3 s, per minute",
}


def measured(folder: Path, kind: str) -> list[np.ndarray]:
    return [np.loadtxt(file)[:, 1] for file in sorted(folder.glob(f"*_{kind}"))]


def ours(kind: str) -> list[np.ndarray]:
    """Return the rates of all links, for as many seconds as the scenario has."""
    seconds = duration_s(LIBRARY / f"mmwave-{kind}.yaml")
    names = [f"mmwave-{kind}-{number:02}" for number in LINKS]
    played = [play(experiment(name, {}), seconds, interval_ms=1000) for name in names]
    return [rows["dl_capacity_mbps"].to_numpy() for rows in played]


def spread(values: np.ndarray, digits: int) -> str:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return f"{middle:.{digits}f} ({low:.{digits}f}…{high:.{digits}f})"


def of_each(links: list[np.ndarray]) -> list[LinkStatistics]:
    return [link_statistics(link) for link in links]


def table(pairs: dict[str, tuple[list[np.ndarray], list[np.ndarray]]]) -> str:
    heads = [f"{kind}, {who}" for kind in KINDS for who in ("measured", "ours")]
    lines = [f"| per link: median (10th…90th percentile) | {' | '.join(heads)} |"]
    lines.append("|---" * (len(heads) + 1) + "|")
    groups = [of_each(links) for kind in KINDS for links in pairs[kind]]
    for name, label in LABELS.items():
        digits = {"dead_ratio": 3, "drops_per_minute": 1}.get(name, 0)
        cells = [spread(np.array([getattr(one, name) for one in of]), digits) for of in groups]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    for at, lag in enumerate(LAGS_S):
        cells = [spread(np.array([one.correlation[at] for one in of]), 2) for of in groups]
        lines.append(f"| autocorrelation after {lag} s | {' | '.join(cells)} |")
    return "\n".join(lines)


def distances(kind: str, real: list[np.ndarray], synthetic: list[np.ndarray]) -> str:
    """Return the distance of all seconds; for comparison, also that between their halves."""
    pooled = ks_2samp(np.concatenate(real), np.concatenate(synthetic)).statistic
    halves = ks_2samp(np.concatenate(real[::2]), np.concatenate(real[1::2])).statistic
    return (
        f"- {kind}: {pooled:.3f} between {len(real)} measured links and {len(synthetic)} of ours; "
        f"{halves:.3f} between every other measured link and the rest."
    )


def held_out(kind: str, real: list[np.ndarray]) -> str:
    """Fit to every other link, compare with the rest, which the fit has not seen; then swap."""
    distances = []
    for begin in (0, 1):
        known, unseen = real[begin::2], np.concatenate(real[1 - begin :: 2])
        drawn = np.concatenate(drawn_from(kind, fit(known)))
        distances.append(
            f"{ks_2samp(unseen, drawn).statistic:.3f} ({len(known)} links fitted, "
            f"{len(real) - len(known)} unseen; the two halves of the measured ones are "
            f"{ks_2samp(unseen, np.concatenate(known)).statistic:.3f} apart)"
        )
    return f"- {kind}: {distances[0]}; {distances[1]}."


def drawn_from(kind: str, drawn: dict[str, object]) -> list[np.ndarray]:
    """Return LINKS of the library's scenario with `drawn` in place of its own numbers."""
    scenario = yaml.safe_load((LIBRARY / f"mmwave-{kind}.yaml").read_text())
    scenario["capacity"]["dl"] = {"drawn": drawn}
    scenario["name"] = "held-out"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "held-out.yaml")
        file.write_text(yaml.safe_dump(scenario))
        played = [
            play(experiment(str(file), {"seed": seed}), duration_s(file), interval_ms=1000)
            for seed in LINKS
        ]
    return [rows["dl_capacity_mbps"].to_numpy() for rows in played]


def draw(pairs: dict[str, tuple[list[np.ndarray], list[np.ndarray]]]) -> None:
    shares = np.linspace(0, 1, 101)
    plots = []
    for kind in KINDS:
        series = [
            Series(
                np.quantile(np.concatenate(links), shares), shares, colour, label, in_legend=True
            )
            for links, label, colour in zip(
                pairs[kind], ("Lumos5G", f"mmwave-{kind}"), (INK, sequence(1)[0]), strict=True
            )
        ]
        plots.append(Plot(series, "capacity DL, Mbit/s", "" if plots else "CDF", title=kind))
    FIGURE.write_text(svg.rendered(Figure(plots, 2, 250)), encoding="utf-8")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "")
    pairs = {kind: (measured(folder, kind), ours(kind)) for kind in KINDS}
    if not all(real for real, _ in pairs.values()):
        sys.exit("compare_lumos5g: the folder has no traces. Give the folder of Lumos5G's traces")
    draw(pairs)
    text = table(pairs) + "\n\nKolmogorov-Smirnov distance of all seconds together:\n\n"
    text += "\n".join(distances(kind, *pairs[kind]) for kind in KINDS)
    text += "\n\nHeld out, the same distance from links that the fit has not seen:\n\n"
    text += "\n".join(held_out(kind, pairs[kind][0]) for kind in KINDS)
    marked = re.compile(r"(<!-- lumos5g -->\n).*(<!-- /lumos5g -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda marks: marks[1] + text + "\n" + marks[2], PAGE.read_text()))


if __name__ == "__main__":
    main()
