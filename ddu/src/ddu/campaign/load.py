# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory, as docs/campaigns.md defines it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ddu.campaign.attempts import Attempts
from ddu.campaign.definition import Campaign
from ddu.console.input_file import read_json
from ddu.console.problems import refusal
from ddu.console.validation import refused_file
from ddu.run.integrity import need_intact
from ddu.run.version import need_known
from ddu.tables.results import is_analysed, read_summary

SCHEMA_VERSION = 1
_RESTORE = "restore it from a copy"


@dataclass(frozen=True)
class CellRun:
    """The result of one cell, or the reason why it has none."""

    levels: dict[str, str]
    seed: int
    path: Path | None
    verdict: str
    """valid or degraded; of a cell without a result: invalid, failed …"""
    reason: str
    place: str = ""
    """The place of a phone."""


@dataclass(frozen=True)
class CampaignDirectory:
    path: Path
    definition: Campaign
    software: dict[str, Any]
    cells: list[CellRun]

    @property
    def results(self) -> list[CellRun]:
        return [cell for cell in self.cells if cell.path is not None]

    @property
    def planned_count(self) -> int:
        """Return how many runs there may be, as ccu counts cells; stop rules may end sooner."""
        return len(self.definition.points) * self.definition.repeats


def read_definition(path: Path) -> tuple[Campaign, dict[str, Any]]:
    """Return the campaign of a directory, and the software that began it.

    Raises RefusedError when `path` has no campaign, or a newer one than this version knows.
    """
    file = path / "campaign.json"
    try:
        content = read_json(file)
        version, written = content["schema_version"], content["campaign"]
        software = content.get("software", {})
        if not isinstance(version, int) or not isinstance(software, dict):
            raise TypeError("schema_version is a whole number, and software an object")
    except OSError as error:
        raise refusal(
            error.strerror or str(error),
            "give the directory that `ccu campaign run` printed",
            file=file,
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(f"not a campaign.json of ccu ({error})", _RESTORE, file=file) from None
    need_known(file, version, SCHEMA_VERSION)
    need_intact(file, content, _RESTORE)
    try:
        return Campaign.model_validate(written), software
    except ValidationError as error:
        raise refused_file(error, Campaign, file) from None


def load_campaign(path: Path) -> CampaignDirectory:
    """Return the campaign in `path` with its cells. Raises RefusedError, as `read_definition`."""
    definition, software = read_definition(path)
    cells = [_cell(file, definition) for file in path.glob("runs/*/cell.json")]
    cells.sort(key=lambda cell: (_places(cell.levels, definition.factors), cell.seed))
    return CampaignDirectory(path, definition, software, cells)


def read_levels(file: Path) -> dict[str, str]:
    """Return the levels in a cell.json. Raises RefusedError."""
    levels: dict[str, str] = _read_cell(file)["levels"]
    return levels


def _read_cell(file: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = read_json(file)
        levels, seed = content["levels"], content.get("seed", 0)
        if not isinstance(levels, dict) or not all(isinstance(one, str) for one in levels.values()):
            raise TypeError("levels is an object of words")
        if not isinstance(seed, int):
            raise TypeError("seed is a whole number")
    except OSError as error:
        raise refusal(error.strerror or str(error), _RESTORE, file=file) from None
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(f"not a cell.json of ccu ({error})", _RESTORE, file=file) from None
    need_intact(file, content, _RESTORE)
    return content


def _places(levels: dict[str, str], factors: dict[str, Any]) -> list[int]:
    """Return the positions of the levels in the campaign's file, which order all tables."""
    return [list(factors[name]).index(label) for name, label in levels.items()]


def _cell(file: Path, definition: Campaign) -> CellRun:
    content = _read_cell(file)
    levels, seed = content["levels"], content.get("seed")
    factors = definition.factors
    known = levels.keys() == factors.keys() and all(levels[one] in factors[one] for one in levels)
    if seed is None or not known:
        raise refusal("is not of this campaign", "move its folder away", file=file)
    attempts = Attempts.read(file.parent)
    if (result := attempts.result) is not None:
        return CellRun(levels, seed, result.path, str(result.verdict), result.reasons, result.place)
    if not attempts:
        return CellRun(levels, seed, None, "not run", "")
    last = attempts[-1]
    reason = (last.failure or {}).get("reason") or last.reasons
    return CellRun(levels, seed, None, last.verdict or last.status, reason)


def summaries(
    campaign: CampaignDirectory, analyze: Callable[[list[Path]], None]
) -> dict[Path, dict[str, Any]]:
    """Return summary.json of every result; `analyze` is called with those that have none yet."""
    paths = [cell.path for cell in campaign.results if cell.path is not None]
    missing = [path for path in paths if not is_analysed(path)]
    if missing:
        analyze(missing)
    return {path: read_summary(path) for path in paths if is_analysed(path)}
