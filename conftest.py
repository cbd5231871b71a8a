# SPDX-License-Identifier: Apache-2.0
"""Loads the packages before pytest names test modules after the directories ccu/ and ddu/, which would hide them."""

import ccu  # noqa: F401
import ddu  # noqa: F401
