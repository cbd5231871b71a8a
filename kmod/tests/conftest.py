# SPDX-License-Identifier: GPL-2.0-only
"""Let the tests import the modules of this folder, whatever directory pytest is started from."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
