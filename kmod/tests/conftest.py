# SPDX-License-Identifier: GPL-2.0-only
"""Lets the tests import their neighbours, whatever directory pytest is started from."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
