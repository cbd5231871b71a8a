# SPDX-License-Identifier: Apache-2.0
"""The attempts at a cell of a campaign: its run directories, of which the first good one counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ddu.console.input_file import read_json
from ddu.run.integrity import CHANGED, is_intact

State = Literal["done", "failed", "to do"]


@dataclass(frozen=True)
class Attempt:
    """A run directory of a cell, described by its run.json."""

    path: Path
    status: str
    verdict: str | None
    failure: dict[str, str] | None
    reasons: str
    """The reasons of the verdict, as sentences."""
    took_s: float | None
    """The time of this machine from start to end of the run."""
    place: str
    """The place of a phone; else empty."""

    @classmethod
    def read(cls, file: Path) -> Attempt | None:
        """Return the attempt of a run.json; None if the file is incomplete, and so no result.

        One that was changed after it was written is no result either.
        """
        try:
            content = read_json(file)
            if is_intact(content) is False:
                return cls._changed(file)
            failure, verdict = content.get("failure"), content["verdict"]
            if not isinstance(failure, dict | None):
                return None
            phone = (content.get("experiment") or {}).get("phone") or {}
            return cls(
                file.parent,
                str(content["status"]),
                None if verdict is None else str(verdict),
                failure,
                "; ".join(content.get("verdict_reasons") or ()),
                _took_s(content),
                str(phone.get("place") or ""),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    @classmethod
    def _changed(cls, file: Path) -> Attempt:
        """Return the attempt of a run.json whose content is not believed."""
        failure = {"stage": file.name, "reason": CHANGED}
        return cls(file.parent, "changed", None, failure, "", None, "")

    @property
    def counts(self) -> bool:
        """Return whether it is a result."""
        return self.status == "finished" and self.verdict in ("valid", "degraded")

    @property
    def tried(self) -> bool:
        """Return whether it counts as a try: it was not interrupted from outside."""
        return self.status in ("finished", "failed") and self._stage not in ("ccu", "disk")

    @property
    def reason(self) -> str:
        if self.failure:
            return f"{self._stage}: {self.failure.get('reason', '')}"
        return self.verdict or self.status

    @property
    def _stage(self) -> str:
        return (self.failure or {}).get("stage", "")


def _took_s(content: dict[str, Any]) -> float | None:
    """Return the time of a run by its run.json; those without `cost` were in real time."""
    if cost := content.get("cost"):
        return float(cost["wall_s"]) + float(cost.get("analysis_s", 0.0))
    times = content.get("time") or {}
    begin, end = times.get("start_utc_ns"), times.get("stop_utc_ns")
    return None if begin is None or end is None else (end - begin) / 1e9


class Attempts(tuple[Attempt, ...]):
    """The attempts of one cell, the oldest first."""

    @classmethod
    def read(cls, cell: Path) -> Attempts:
        """Return the attempts in the folder of a cell."""
        files = sorted(cell.glob("*/run.json"))
        return cls(attempt for attempt in map(Attempt.read, files) if attempt is not None)

    @property
    def result(self) -> Attempt | None:
        """Return the attempt that counts: the first that is a result."""
        return next((one for one in self if one.counts), None)

    def state(self, retries: int) -> State:
        """Return the state; `failed` after as many tries as the campaign allows."""
        if self.result is not None:
            return "done"
        return "failed" if sum(one.tried for one in self) > retries else "to do"
