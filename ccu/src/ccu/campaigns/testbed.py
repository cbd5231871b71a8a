# SPDX-License-Identifier: Apache-2.0
"""The choice that a campaign leaves to the machine: one testbed for all of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ccu.campaigns.cells import cells
from ccu.campaigns.folder import Folder
from ccu.spec.experiment import Experiment
from ccu.testbeds import choice
from ddu.campaign.definition import Campaign


def on_a_testbed(campaign: Campaign, directory: Path) -> tuple[Campaign, list[str]]:
    """Return the campaign with what it leaves to the machine in its base, and notices about what is
    not as preferred.

    What the campaign says anywhere stays as it is; one that has begun in `directory` stays where it
    is.
    """
    said = _said(campaign)
    if (directory / "campaign.json").exists():
        begun = Folder.open(directory).campaign.base
        left = choice.keys() & begun.keys() - said.keys()
        return _with(campaign, {key: begun[key] for key in left}), []
    chosen = choice.choose(said, lambda more: _points(_with(campaign, more)))
    values = {one.key: one.value for one in chosen}
    return _with(campaign, values), [one.notice for one in chosen if one.notice]


def _points(campaign: Campaign) -> list[Experiment]:
    return list({cell.point: cell.of_point for cell in cells(campaign)}.values())


def _said(campaign: Campaign) -> dict[str, Any]:
    """Return the keys that the campaign has anywhere; a testbed that differs is None."""
    levels = [level for factor in campaign.factors.values() for level in factor.values()]
    said = dict(campaign.base)
    for level in levels:
        said |= level
    if any(choice.TESTBED in level for level in levels):
        said[choice.TESTBED] = None
    return said


def _with(campaign: Campaign, values: Mapping[str, Any]) -> Campaign:
    return campaign.model_copy(update={"base": {**campaign.base, **values}})
