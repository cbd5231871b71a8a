# SPDX-License-Identifier: Apache-2.0
"""The colours that programs print for a terminal."""

from __future__ import annotations

import re
import unicodedata

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def uncoloured(text: str) -> str:
    """Return what a program has printed without the colours of a terminal."""
    return _COLOUR.sub("", text)


def visible(text: str) -> str:
    """Return the text with its control characters written out, so that no terminal obeys what a
    program of somebody has printed."""
    return "".join(
        one if one == "\t" or unicodedata.category(one) not in ("Cc", "Cf") else _written(one)
        for one in text
    )


def _written(control: str) -> str:
    return control.encode("unicode_escape").decode("ascii")
