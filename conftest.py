# SPDX-License-Identifier: Apache-2.0
"""Loads the packages, which pytest would else hide behind the directories ccu/ and ddu/."""

import ccu  # noqa: F401
import ddu  # noqa: F401
