# SPDX-License-Identifier: Apache-2.0
"""The sentences of this layer about its work."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[str], None]
"""A function of what is being done, in words."""
