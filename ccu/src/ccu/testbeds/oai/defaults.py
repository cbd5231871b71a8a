# SPDX-License-Identifier: Apache-2.0
"""Regenerate containers/defaults, which Compose uses without ccu.

Run it by `python -m ccu.testbeds.oai.defaults`.
"""

from __future__ import annotations

from pathlib import Path

from ccu.testbeds.oai import configs, version
from ccu.testbeds.oai.carrier import carrier

if __name__ == "__main__":
    for core in configs.CORES:
        plan = configs.Plan(version.DEFAULT, carrier(106), core=core)
        configs.write(plan, Path(configs.CONTAINERS, "defaults"))
