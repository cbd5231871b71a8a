# SPDX-License-Identifier: Apache-2.0
"""`ddu`, which checks what campaigns ask of it before their first run."""

from __future__ import annotations

from ccu.campaigns.ddu import Ddu, EndedError
from ccu.campaigns.definition import Campaign
from ccu.host import programs
from ddu.console.problems import CommandError, Problem

_ASKED = {"factors", "report", "stop"}


class Checker(Ddu):
    """`ddu`, which checks the reports and stop rules of campaigns; a context manager."""

    command = "check"
    stderr = None

    def problems_of(self, campaign: Campaign) -> list[Problem]:
        """Return why `report` or `stop` cannot be carried out, at their lines; nothing where there
        is no ddu."""
        if not (campaign.report or campaign.stop) or programs.find("ddu") is None:
            return []
        try:
            answer = self.ask(campaign.model_dump(mode="json", include=_ASKED))
        except EndedError as error:
            raise CommandError(f"ddu campaign check: {error}") from None
        return [_at_its_line(Problem.from_json(one), campaign) for one in answer]


def _at_its_line(problem: Problem, campaign: Campaign) -> Problem:
    return problem.at(campaign.where(*(problem.where.key or "").split(".")))
