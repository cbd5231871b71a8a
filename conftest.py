# SPDX-License-Identifier: Apache-2.0
"""Loads the packages, which pytest would else hide behind the directories ccu/ and ddu/."""

from hypothesis import settings

import ccu  # noqa: F401
import ddu  # noqa: F401

# Tests assert no times: a machine that is busy is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
