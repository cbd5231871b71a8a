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
from ddu.tables.results import is_analysed, read_summary

SCHEMA_VERSION = 1


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
    except OSError as error:
        raise refusal(
            error.strerror or str(error),
            "give the directory that `ccu campaign run` printed",
            file=file,
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(f"not a campaign.json of ccu ({error})", "restore it", file=file) from None
    if version > SCHEMA_VERSION:
        raise refusal(
            f"schema_version {version} is newer than {SCHEMA_VERSION}, the newest that this "
            "version reads",
            "use the version that made it, or a newer one",
            file=file,
        )
    try:
        return Campaign.model_validate(written), content.get("software", {})
    except ValidationError as error:
        raise refused_file(error, Campaign, file) from None


def load_campaign(path: Path) -> CampaignDirectory:
    """Return the campaign in `path` with its cells. Raises RefusedError, as `read_definition`."""
    definition, software = read_definition(path)
    try:
        cells = [_cell(file) for file in path.glob("runs/*/cell.json")]
        cells.sort(key=lambda cell: (_places(cell.levels, definition.factors), cell.seed))
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(
            f"a cell.json is not of this campaign ({error})",
            "move its folder away",
            file=path / "runs",
        ) from None
    return CampaignDirectory(path, definition, software, cells)


def _places(levels: dict[str, str], factors: dict[str, Any]) -> list[int]:
    """Return the positions of the levels in the campaign's file, which order all tables."""
    return [list(factors[name]).index(label) for name, label in levels.items()]


def _cell(file: Path) -> CellRun:
    about = read_json(file)
    levels, seed = about["levels"], about["seed"]
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
