# SPDX-License-Identifier: Apache-2.0
"""A whole run in virtual time, with nr-link's model between the hosts."""

from __future__ import annotations

from collections.abc import Sequence

from ccu.testbeds import Outcome, Site
from ccu.testbeds.mac_csv import delivered_bytes
from ccu.testbeds.virtual_time.run import Run
from ccu.traffic.flow import Flow


def perform(site: Site, flows: Sequence[Flow]) -> Outcome:
    """Run the experiment. Raises RunFailed, or Interrupted."""
    run = Run(site, flows)
    run.prepare()
    run.perform()
    return run.outcome(lambda direction: delivered_bytes(site.raw / "mac.csv", direction))
