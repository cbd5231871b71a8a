# SPDX-License-Identifier: Apache-2.0
"""The testbed of a campaign that names none: one for all of its runs, chosen when it begins."""

from __future__ import annotations

from pathlib import Path

from ccu.campaigns.cells import cells
from ccu.campaigns.definition import Campaign
from ccu.campaigns.folder import Folder
from ccu.spec.experiment import Experiment
from ccu.testbeds.choice import choose

_KEY = "testbed"


def on_a_testbed(campaign: Campaign, directory: Path) -> tuple[Campaign, str]:
    """Return the campaign with a testbed in its base, and a notice if it is not the preferred.

    A campaign that names a testbed anywhere stays as it is; one that has begun in `directory` stays
    where it is.
    """
    if _names_one(campaign):
        return campaign, ""
    if (directory / "campaign.json").exists():
        begun = Folder.open(directory).campaign
        return _on(campaign, begun.base[_KEY]) if _KEY in begun.base else campaign, ""
    choice = choose(lambda name: _points(_on(campaign, name)))
    return _on(campaign, choice.testbed), choice.notice


def _points(campaign: Campaign) -> list[Experiment]:
    return list({cell.point: cell.of_point for cell in cells(campaign)}.values())


def _names_one(campaign: Campaign) -> bool:
    levels = (level for factor in campaign.factors.values() for level in factor.values())
    return any(_KEY in keys for keys in (campaign.base, *levels))


def _on(campaign: Campaign, testbed: str) -> Campaign:
    return campaign.model_copy(update={"base": {**campaign.base, _KEY: testbed}})
