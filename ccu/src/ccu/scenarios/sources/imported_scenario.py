# SPDX-License-Identifier: Apache-2.0
"""The options of an import, and the scenario without its head that a reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ddu.console.problems import refusal

LONGEST_S = 21_600.0
"""The longest scenario that nr-link plays."""
POWER_DBM = 0.0
"""Power per resource element of the SSB. A log does not have it; chosen as in rome-moderate."""
FIGURE_DB = 7.0
"""Noise figure of the UE if a log has no SINR; chosen as in docs/scenarios.md."""


@dataclass(frozen=True)
class ImportOptions:
    """The user's options of an import."""

    name: str
    kind: Literal["radio", "capacity"] | None = None
    """None means the usual kind of the format."""
    run: int | None = None
    """The number of the run, in a file that holds many."""
    ul: Path | None = None
    """The trace of the uplink."""
    period_s: float | None = None
    """The time between samples, if the file has no timestamps."""


@dataclass(frozen=True)
class ImportedScenario:
    """The part of a scenario that a file determines."""

    duration_s: float
    summary: str
    sources: list[str]
    body: dict[str, Any]
    """`radio` or `capacity`, as the scenario format has it."""
    copies: dict[str, Path] = field(default_factory=dict)
    """The files that are copied beside the scenario, by name."""
    columns: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    """The CSV files that are written beside it: columns by name, `t_s` first."""

    @property
    def kind(self) -> str:
        """`radio` or `capacity`."""
        return next(iter(self.body))

    @property
    def origins(self) -> list[str]:
        """Return the source of each part, and the values chosen because the file lacks them."""
        radio = self.body.get("radio") or {}
        sentences = list(self.sources)
        if radio.get("ss_pbch_block_power_dbm") == POWER_DBM:
            sentences.append(f"Power of the SSB: chosen, {POWER_DBM:g} dBm a resource element.")
        if figure_db := (radio.get("noise") or {}).get("figure_db"):
            sentences.append(f"Noise: chosen, a noise figure of {figure_db:g} dB.")
        return sentences


def radio_series(
    file: Path,
    options: ImportOptions,
    t_s: np.ndarray,
    rsrp_dbm: np.ndarray,
    sinr_db: np.ndarray | None,
) -> dict[str, Any]:
    """Return fields of an ImportedScenario that plays RSRP, and SINR where it was measured."""
    _plausible(file, "RSRP", rsrp_dbm, -156.0, -31.0, "dBm")  # what a UE can report, TS 38.133
    name = f"{options.name}.csv"
    columns = {"t_s": t_s, "rsrp_dbm": rsrp_dbm}
    noise: dict[str, Any] = {"figure_db": FIGURE_DB}
    if sinr_db is not None:
        _plausible(file, "SINR", sinr_db, -40.0, 60.0, "dB")
        columns["sinr_db"] = sinr_db
        noise = {"sinr_db": {"file": name, "column": "sinr_db"}}
    radio = {
        "ss_pbch_block_power_dbm": POWER_DBM,
        "level": {"rsrp_dbm": {"file": name, "column": "rsrp_dbm"}},
        "noise": noise,
    }
    return {"body": {"radio": radio}, "columns": {name: columns}}


def rate_series(
    options: ImportOptions, t_s: np.ndarray, dl_mbps: np.ndarray, ul_mbps: np.ndarray | None
) -> dict[str, Any]:
    """Return fields of an ImportedScenario that plays measured rates; an uplink that was not
    measured never limits."""
    files = {f"{options.name}-dl.csv": {"t_s": t_s, "mbps": dl_mbps}}
    dl = {"steps_mbps": {"file": f"{options.name}-dl.csv", "column": "mbps"}}
    ul: dict[str, Any] = {"constant_mbps": float(max(dl_mbps.max(), 1.0))}
    if ul_mbps is not None:
        files[f"{options.name}-ul.csv"] = {"t_s": t_s, "mbps": ul_mbps}
        ul = {"steps_mbps": {"file": f"{options.name}-ul.csv", "column": "mbps"}}
    return {"body": {"capacity": {"dl": dl, "ul": ul}}, "columns": files}


def covered_s(file: Path, t_s: np.ndarray) -> float:
    """Return what samples from 0 s on cover, if a scenario can be so long: the last one lasts as
    long as most do. Raises RefusedError."""
    last_s = float(np.median(np.diff(t_s))) if len(t_s) > 1 else 1.0
    return not_too_long(file, float(t_s[-1]) + last_s)


def not_too_long(file: Path, duration_s: float) -> float:
    """Return the duration, if a scenario can be so long. Raises RefusedError."""
    if duration_s > LONGEST_S:
        raise refusal(
            f"lasts {duration_s:g} s, a scenario at most {LONGEST_S:g} s",
            "write timestamps in seconds, or cut out a part, for example with `head`",
            file=file,
        )
    return duration_s


def _plausible(
    file: Path, what: str, values: np.ndarray, low: float, high: float, unit: str
) -> None:
    bad = np.flatnonzero(~((values >= low) & (values <= high)))
    if len(bad):
        raise refusal(
            f"{what} {values[bad[0]]:g} in sample {bad[0] + 1} is not between {low:g} and "
            f"{high:g} {unit}",
            f"is the column in {unit}?",
            file=file,
        )
