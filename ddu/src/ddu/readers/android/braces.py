# SPDX-License-Identifier: Apache-2.0
"""Java's toString() of nested objects: what stands between a brace or bracket and its partner."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PARTNER = {"{": "}", "[": "]"}


def inside(text: str, name: str) -> str | None:
    """The content of `name` followed by `{…}` or `[…]`, at its first place.

    None: the name is not there, has no brace, or its brace is never closed.
    """
    for content in all_inside(text, name):
        return content
    return None


def all_inside(text: str, name: str) -> Iterator[str]:
    """Yield what `inside` returns for every match. Matches within another one are passed over."""
    begins = re.compile(rf"(?<!\w){re.escape(name)}\s*[:=]?\s*([{{\[])")
    at = 0
    while match := begins.search(text, at):
        end = _partner(text, match.start(1))
        if end is None:
            at = match.end()
            continue
        yield text[match.end() : end]
        at = end


def items(text: str) -> list[str]:
    """The `{…}` of a list, without what stands between them."""
    parts = []
    at = 0
    while (begin := text.find("{", at)) >= 0:
        end = _partner(text, begin)
        if end is None:
            break
        parts.append(text[begin + 1 : end])
        at = end
    return parts


def without(text: str, content: str | None) -> str:
    """The text with this content taken out once."""
    return text if not content else text.replace(content, " ", 1)


def _partner(text: str, begin: int) -> int | None:
    opening = text[begin]
    closing = _PARTNER[opening]
    depth = 0
    for at in range(begin, len(text)):
        if text[at] == opening:
            depth += 1
        elif text[at] == closing:
            depth -= 1
            if depth == 0:
                return at
    return None
