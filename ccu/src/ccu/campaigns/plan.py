# SPDX-License-Identifier: Apache-2.0
"""The cost of a campaign, before it or in progress: runs, hours and disk space."""

from __future__ import annotations

from dataclasses import dataclass

from ccu.campaigns.estimate import START_S, analysis_s, kept_bytes
from ccu.campaigns.runner import Work
from ccu.campaigns.status import CampaignStatus, status_of
from ccu.runs import disk_space


@dataclass(frozen=True)
class Plan:
    """The sums over a campaign's runs."""

    status: CampaignStatus
    left_s: float
    """Estimated time until the end of a campaign that is about to start."""
    report_s: float
    """The analysis that is left to the report: of each run that keeps its raw data."""
    traffic_s: float
    """The time of the runs still to do on their own clock: virtual, or real."""
    disk_bytes: float
    """The disk space that all runs take, about."""
    passing_bytes: float
    """The most that runs in progress write before anything is dropped."""


def plan_of(work: Work) -> Plan:
    """Return the plan of the campaign, as many runs at a time as the work says."""
    keep, status = work.folder.campaign.keep, status_of(work)
    first = {point: group[0].of_point for point, group in work.by_point.items()}
    largest = max(map(disk_space.most_bytes, first.values()), default=0)
    return Plan(
        status,
        status.left_s + START_S if status.left_s else 0.0,
        sum(row.planned * analysis_s(first[row.point]) for row in status.rows)
        if keep == "raw"
        else 0.0,
        sum(row.waiting * first[row.point].duration_s for row in status.rows),
        sum(row.planned * kept_bytes(first[row.point], keep) for row in status.rows),
        0 if keep == "raw" else work.at_once * largest,
    )
