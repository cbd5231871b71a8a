# SPDX-License-Identifier: Apache-2.0
"""Two runs of which one changes at an instant: one curve that parts there, and the difference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ddu.campaign.metrics import shown
from ddu.compare.experiments import differing
from ddu.compare.load import Compared, names_of
from ddu.report.figure import Figure, Mark, Plot, Series, under_each_other
from ddu.report.palette import INK, sequence
from ddu.report.wider_bins import bin_of
from ddu.schema.arrays import floats_of

COLUMNS = ("tcp_throughput_bps", "tcp_rtt_ms")
_BATCH_S = 0.1


@dataclass(frozen=True)
class Parting:
    """A run, another one that is the same until an instant, and the instant on both time axes."""

    base: Compared
    changed: Compared
    t_s: float
    text: str
    """The change, as it was written."""
    later: tuple[str, ...] = ()
    """Further changes that only one of them has, with their instants: they are in the difference,
    too."""

    @property
    def same_before(self) -> bool:
        """Whether both runs' tables are the same, value by value, until the instant."""
        tables = [
            run.aligned[run.aligned["t_s"] + run.summary["bin_ms"] / 1e3 <= self.t_s]
            for run in (self.base, self.changed)
        ]
        columns = [name for name in tables[0] if name in tables[1]]
        first, second = (table[columns].reset_index(drop=True) for table in tables)
        return bool(first.equals(second))

    def after(self, batches: pd.DataFrame) -> pd.DataFrame:
        """Return the whole batches from the instant on in which flows of both runs still send: a
        batch that the end of the traffic cuts has a rate of its own."""
        until_s = min(_sends_until_s(run) for run in (self.base, self.changed))
        whole = batches["t_s"] + _BATCH_S <= until_s + 1e-6
        return batches[(batches["t_s"] >= self.t_s) & whole]


def partings(runs: Sequence[Compared]) -> dict[str, Parting]:
    """Return the pairs of runs that part at a change that one of them has and the other has not,
    by the names of their figures."""
    pairs = itertools.combinations(
        [run for run in runs if run.is_result and run.repeats is None], 2
    )
    both = (_parting(*sorted(pair, key=lambda run: len(_changes(run)))) for pair in pairs)
    parted = [one for one in both if one is not None]
    return {f"parting-{number}": one for number, one in enumerate(parted)}


def _changes(run: Compared) -> dict[tuple[float, str], float]:
    """Return the instants of the changes on the run's time axis, by when each was to be made, from
    the start of the traffic, and what it was: the first packet is at another time in each run."""
    changes = run.summary.get("changes", [])
    return {(one["at_s"], one["change"]): one["t_s"] for one in changes}


def _parting(base: Compared, changed: Compared) -> Parting | None:
    same = ("cc", "direction", "prb", "scenario", "bin_ms")
    if any(base.summary.get(key) != changed.summary.get(key) for key in same):
        return None
    if differing([base.settings, changed.settings]):
        return None
    own, more = _changes(base), _changes(changed)
    unshared = sorted(own.keys() ^ more.keys())
    if not unshared:
        return None
    t_s = own | more
    first_s = unshared[0][0]
    texts = [text for at_s, text in unshared if at_s == first_s and (at_s, text) in more]
    others = [text for at_s, text in unshared if at_s == first_s and (at_s, text) in own]
    text = ", ".join(texts) or f"without {', '.join(others)}"
    text += f" (not {', '.join(others)})" if texts and others else ""
    after = [
        f"{'' if one in more else 'not '}{one[1]} from {t_s[one]:.3f} s on"
        for one in unshared
        if one[0] > first_s
    ]
    return Parting(base, changed, t_s[unshared[0]], text, tuple(after))


def _sends_until_s(run: Compared) -> float:
    """Return the end of the last bin in which a packet was sent, or of the traffic time, if that is
    earlier or only the receiver's side was captured."""
    until_s = float(run.summary["duration_s"])
    if "tcp_sending_rate_bps" in run.aligned:
        sending = run.aligned[run.aligned["tcp_sending_rate_bps"].fillna(0) > 0]["t_s"]
        if len(sending):
            return min(until_s, float(sending.max() + run.summary["bin_ms"] / 1e3))
    return until_s


def figure(parting: Parting) -> Figure:
    """Return throughput and RTT over time, each with the difference after the instant below."""
    plots: list[Plot] = []
    colours = sequence(2)
    for name in COLUMNS:
        how = shown(name)
        base, changed = (_batched(run, name, how.scale) for run in (parting.base, parting.changed))
        until = base["t_s"] <= parting.t_s
        common = base[until] if parting.same_before else base[:0]
        lines = [_line(common, INK, "both")]
        for table, colour, label in (
            (base, colours[0], "without the change"),
            (changed, colours[1], parting.text),
        ):
            after = table[table["t_s"] >= parting.t_s - _BATCH_S] if len(common) else table
            lines.append(_line(after, colour, label, in_legend=not plots))
        marks = [Mark(parting.t_s, parting.text if not plots else "")]
        plots.append(Plot(lines, "", how.axis, y_from_zero=True, marks=marks))
        both = base.merge(changed, on="t_s", suffixes=("", "_changed"))
        both = parting.after(both)
        difference = both.assign(value=both["value_changed"] - both["value"])
        line = _line(difference, colours[1], "")
        plots.append(Plot([line], "", "difference", marks=[Mark(parting.t_s, "")]))
    return under_each_other(plots, 170)


def described(parting: Parting) -> dict[str, Any]:
    """Return what the page says of the pair, in words and numbers."""
    base, changed = names_of((parting.base, parting.changed))
    return {
        "base": base,
        "changed": changed,
        "t_s": parting.t_s,
        "text": parting.text,
        "later": parting.later,
        "same": parting.same_before,
        "rows": table(parting),
    }


def table(parting: Parting) -> list[dict[str, Any]]:
    """Return the means of each column after the instant (`Parting.after`), and the difference."""
    rows = []
    for name in COLUMNS:
        how = shown(name)
        means = []
        for run in (parting.base, parting.changed):
            batches = _batched(run, name, how.scale)
            means.append(float(parting.after(batches)["value"].mean()))
        rows.append(
            {"metric": how.axis, "without": means[0], "with": means[1],
             "difference": means[1] - means[0]}
        )  # fmt: skip
    return rows


def _batched(run: Compared, name: str, scale: float) -> pd.DataFrame:
    """Return the column's mean in each batch of time, over the flows for an RTT and their sum for a
    rate."""
    if name not in run.aligned:
        return pd.DataFrame({"t_s": np.zeros(0), "value": np.zeros(0)})
    per_bin = run.aligned.groupby("t_s")[name]
    values = per_bin.sum(min_count=1) if name.endswith("_bps") else per_bin.mean()
    frame = values.astype("float64").rename("value").reset_index()
    frame["t_s"] = bin_of(frame["t_s"], _BATCH_S) * _BATCH_S
    batches = frame.groupby("t_s")["value"].mean().reset_index()
    return batches.assign(value=batches["value"] * scale)


def _line(table: pd.DataFrame, colour: str, name: str, in_legend: bool = False) -> Series:
    x, y = floats_of(table, "t_s"), floats_of(table, "value")
    return Series(x, y, colour, name, in_legend=in_legend)
