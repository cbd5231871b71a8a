# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the project and of users. nr-link interprets their content."""

from ccu.scenarios import sets
from ccu.scenarios.library import LIBRARY, library, locate, seed_of
from ccu.scenarios.settings import check_time, gives_capacity, settings

__all__ = [
    "LIBRARY",
    "check_time",
    "gives_capacity",
    "library",
    "locate",
    "seed_of",
    "sets",
    "settings",
]
