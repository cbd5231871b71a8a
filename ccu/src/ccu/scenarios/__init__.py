# SPDX-License-Identifier: Apache-2.0
"""The project's scenarios, and the user's. What they mean is nr-link's business."""

from ccu.scenarios.library import LIBRARY, library, locate, seed_of
from ccu.scenarios.settings import check_time, gives_capacity, settings

__all__ = ["LIBRARY", "check_time", "gives_capacity", "library", "locate", "seed_of", "settings"]
