# SPDX-License-Identifier: Apache-2.0
"""A log as people paste it into mails and issues: quoted, in code fences, indented, after a prompt.

What was put around the lines is removed before any format looks at them. Each line stays in its
place, so that the line numbers of errors are those of the user's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(rb"[ \t]*(?:```|~~~)")
_QUOTE = re.compile(rb"[ \t]{0,3}(?:> ?)+")
_PROMPT = re.compile(
    rb"[ \t]*(?:\$ |[\w.-]+@[\w.-]+:[^\s$#]*[$#] ?|\[[\w.-]+@[\w.-]+ [^\]\s]*\][$#] ?)"
)
_DRESSED = re.compile(
    rb"^(?:" + rb"|".join(one.pattern for one in (_FENCE, _QUOTE, _PROMPT)) + rb")", re.MULTILINE
)
_NOT_INDENTED = re.compile(rb"\A(?:[ \t]*\r?\n)*\S")
_BLANK_THEN_INDENTED = re.compile(rb"^[ \t]*\r?\n[ \t]+\S", re.MULTILINE)


def undressed(content: bytes) -> bytes:
    """Return the text with as many lines, without what surrounds them; most logs are returned as
    they are."""
    dressed = _DRESSED.search(content)
    if not dressed and _NOT_INDENTED.match(content) and not _BLANK_THEN_INDENTED.search(content):
        return content
    lines = content.split(b"\n")
    if dressed:
        lines = _without_prompts(_within_fences(_unquoted(lines)))
    return b"\n".join(_without_indentation(lines))


def _unquoted(lines: list[bytes]) -> list[bytes]:
    """Return the quoted text; where most lines are quoted, the others are of the one who quotes."""
    quoted = sum(_QUOTE.match(line) is not None for line in lines)
    only_quoted = 2 * quoted > sum(bool(line.strip()) for line in lines)
    return [
        line[mark.end() :] if (mark := _QUOTE.match(line)) else line * (not only_quoted)
        for line in lines
    ]


def _within_fences(lines: list[bytes]) -> list[bytes]:
    """Return what fences hold, with blank lines for all else; a fence without a partner, of which
    a part was copied, holds nothing."""
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2:
        return [b"" if _FENCE.match(line) else line for line in lines]
    if not fences:
        return lines
    held = [b""] * len(lines)
    for begin, end in zip(fences[::2], fences[1::2], strict=True):
        held[begin + 1 : end] = lines[begin + 1 : end]
    return held


def _without_prompts(lines: list[bytes]) -> list[bytes]:
    """Return the output of commands: where most lines have a prompt, it is a part of each; else
    such a line is the command."""
    prompted = sum(_PROMPT.match(line) is not None for line in lines)
    if not prompted:
        return lines
    in_each = 2 * prompted > sum(bool(line.strip()) for line in lines)
    return [
        line if (prompt := _PROMPT.match(line)) is None else line[prompt.end() :] * in_each
        for line in lines
    ]


def _without_indentation(lines: list[bytes]) -> Iterator[bytes]:
    """Yield the lines without the indentation that all lines of their paragraph have."""
    paragraph: list[bytes] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        else:
            yield from _outdented(paragraph)
            yield line
            paragraph = []
    yield from _outdented(paragraph)


def _outdented(lines: list[bytes]) -> list[bytes]:
    if not lines:
        return []
    common = lines[0][: len(lines[0]) - len(lines[0].lstrip(b" \t"))]
    while not all(line.startswith(common) for line in lines):
        common = common[:-1]
    return [line[len(common) :] for line in lines]
