# SPDX-License-Identifier: Apache-2.0
"""What a reader of a foreign file is asked for, and what it gives: a scenario without its head."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from testbed_console.problems import refusal

LONGEST_S = 21_600.0
"""The longest scenario (nr-link)."""
POWER_DBM = 0.0
"""Of each resource element of the SSB. A log does not know it; chosen as in rome-moderate."""
FIGURE_DB = 7.0
"""Noise figure of the UE where a log has no SINR: chosen, as in docs/scenarios.md."""


@dataclass(frozen=True)
class Wanted:
    """What the user says of an import beside the file."""

    name: str
    kind: Literal["radio", "capacity"] | None = None
    """None: what the format is for."""
    run: int | None = None
    """Which one, in a file that holds many."""
    ul: Path | None = None
    """The uplink's trace."""
    period_s: float | None = None
    """From sample to sample, where the file has no stamps."""


@dataclass(frozen=True)
class Found:
    """The part of a scenario that a file determines."""

    duration_s: float
    summary: str
    sources: list[str]
    body: dict[str, Any]
    """`radio` or `capacity`, as the scenario format has it."""
    copies: dict[str, Path] = field(default_factory=dict)
    """Files that go beside the scenario as they are."""
    columns: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    """CSV files that go beside it: name, then columns, `t_s` first."""

    @property
    def kind(self) -> str:
        """`radio` or `capacity`."""
        return next(iter(self.body))

    @property
    def origins(self) -> list[str]:
        """Where each part is from, and what was chosen because the file does not tell it."""
        radio = self.body.get("radio") or {}
        told = list(self.sources)
        if radio.get("ss_pbch_block_power_dbm") == POWER_DBM:
            told.append(f"Power of the SSB: chosen, {POWER_DBM:g} dBm a resource element.")
        if figure_db := (radio.get("noise") or {}).get("figure_db"):
            told.append(f"Noise: chosen, a noise figure of {figure_db:g} dB.")
        return told


def radio_series(
    file: Path, wanted: Wanted, t_s: np.ndarray, rsrp_dbm: np.ndarray, sinr_db: np.ndarray | None
) -> dict[str, Any]:
    """Fields of a Found that plays a drive's RSRP, and SINR where it was measured."""
    _plausible(file, "RSRP", rsrp_dbm, -156.0, -31.0, "dBm")  # what a UE can report, TS 38.133
    name = f"{wanted.name}.csv"
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
    wanted: Wanted, t_s: np.ndarray, dl_mbps: np.ndarray, ul_mbps: np.ndarray | None
) -> dict[str, Any]:
    """Fields of a Found that plays measured rates; without an uplink's, it never limits."""
    files = {f"{wanted.name}-dl.csv": {"t_s": t_s, "mbps": dl_mbps}}
    dl = {"steps_mbps": {"file": f"{wanted.name}-dl.csv", "column": "mbps"}}
    ul: dict[str, Any] = {"constant_mbps": float(max(dl_mbps.max(), 1.0))}
    if ul_mbps is not None:
        files[f"{wanted.name}-ul.csv"] = {"t_s": t_s, "mbps": ul_mbps}
        ul = {"steps_mbps": {"file": f"{wanted.name}-ul.csv", "column": "mbps"}}
    return {"body": {"capacity": {"dl": dl, "ul": ul}}, "columns": files}


def last_step_s(t_s: np.ndarray) -> float:
    """For how long the last sample holds: as long as most do."""
    return float(np.median(np.diff(t_s))) if len(t_s) > 1 else 1.0


def not_too_long(file: Path, duration_s: float) -> float:
    """The duration, if a scenario can be so long. Raises RefusedError."""
    if duration_s > LONGEST_S:
        raise refusal(
            f"lasts {duration_s:g} s, a scenario at most {LONGEST_S:g} s",
            "are its stamps seconds? Cut a part out, such as one with `head`",
            file=file,
        )
    return duration_s


def _plausible(
    file: Path, what: str, values: np.ndarray, low: float, high: float, unit: str
) -> None:
    bad = np.flatnonzero(~((values >= low) & (values <= high)))
    if len(bad):
        raise refusal(
            (
                f"{what} {values[bad[0]]:g} in sample {bad[0] + 1} is not between {low:g} and "
                f"{high:g} {unit}"
            ),
            f"is the column in {unit}?",
            file=file,
        )
