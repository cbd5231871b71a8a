# SPDX-License-Identifier: Apache-2.0
"""The plan of a campaign, or of several, as `ccu campaign plan` prints it."""

from __future__ import annotations

from collections.abc import Callable

from rich.table import Table

from ccu.campaigns.plan import Plan
from ccu.campaigns.runner import Work
from ccu.campaigns.status import CampaignStatus
from ccu.host import disk


def design(now: CampaignStatus, repeats: int) -> str:
    """Return a text such as `12 (4 points, each 3 times)`."""
    points = "1 point" if len(now.rows) == 1 else f"{len(now.rows)} points"
    times = {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
    return f"{now.planned} ({points}, {'each ' if len(now.rows) > 1 else ''}{times})"


class PlanTable:
    """The plans of several campaigns, a row each, and their sum."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, Plan]] = []

    def add(self, work: Work, plan: Plan) -> None:
        campaign = work.folder.campaign
        self._rows.append((f"{campaign.name} {campaign.profile}", plan))

    def table(self) -> Table:
        """Return the table; hours are those of the runs still to do."""
        plans = [plan for _, plan in self._rows]
        columns: list[tuple[str, Callable[[Plan], float], Callable[[float], str]]] = [
            ("runs", lambda plan: plan.status.planned, "{:.0f}".format),
            ("done", lambda plan: plan.status.done, "{:.0f}".format),
            ("left out", lambda plan: sum(plan.status.left_out.values()), "{:.0f}".format),
            ("hours of traffic", lambda plan: plan.traffic_s / 3600, "{:.1f}".format),
            ("hours here", lambda plan: plan.left_s / 3600, "{:.1f}".format),
            ("disk", lambda plan: plan.disk_bytes, disk.amount),
        ]
        table = Table(box=None, show_footer=True)
        table.add_column(
            "campaign", footer="1 campaign" if len(plans) == 1 else f"{len(plans)} campaigns"
        )
        for title, number, text in columns:
            table.add_column(title, footer=text(sum(map(number, plans))), justify="right")
        for name, plan in self._rows:
            table.add_row(name, *(text(number(plan)) for _, number, text in columns))
        return table
