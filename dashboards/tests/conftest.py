# SPDX-License-Identifier: Apache-2.0
"""Let the tests import the dashboards' code and the synthetic runs of ddu's tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for directory in ("dashboards", "ddu/tests"):
    if str(ROOT / directory) not in sys.path:
        sys.path.insert(0, str(ROOT / directory))
