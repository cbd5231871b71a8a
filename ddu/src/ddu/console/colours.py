# SPDX-License-Identifier: Apache-2.0
"""The colours that programs print for a terminal."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def uncoloured(text: str) -> str:
    """Return what a program has printed without the colours of a terminal."""
    return _COLOUR.sub("", text)
