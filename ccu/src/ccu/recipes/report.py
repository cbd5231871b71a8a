# SPDX-License-Identifier: Apache-2.0
"""How the layer says what it is doing."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[str], None]
"""A function of what is being done, in words."""
