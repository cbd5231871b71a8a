# SPDX-License-Identifier: Apache-2.0
"""Inputs that are nearly right, for the fuzzing of readers; DDU_FUZZ_EXAMPLES says how many."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddu.console.problems import RefusedError

_Read = TypeVar("_Read")

_EXAMPLES = int(os.environ.get("DDU_FUZZ_EXAMPLES", "30"))
_SPLICES = (
    b"-1.-5", b"nan", b"99999999999999999999999", b"\n", b";", b":", b"/", b"-", b"\x1b[32m",
    b"### 1795282797.5\n", b"Frame.Slot 1023.19\n", b"1e999", b"0",
)  # fmt: skip
"""Texts that mean something to a reader: wrong numbers, separators, stamps."""
_VALUES = (
    b"null", b"true", b"0", b"-1", b"1.5", b"1e300", b"1e999", b"NaN", b"99999999999999999999999",
    b"1e99900130000770", b'""', b'"2"', b"x", b"[]", b"{}", b"[[0]]", b'{"a": null}', b"'|O'",
)  # fmt: skip
"""Values of other types and sizes than a field of JSON, YAML, CSV or numpy's header has."""
_FIELD = re.compile(rb"""\"[^"\n]*"|'[^'\n]*'|[^\s"',:;=\[\]{}()]+""")


@st.composite
def changed(draw: st.DrawFn, of: list[bytes]) -> bytes:
    """A seed with some spans cut out, doubled, overwritten, or joined with another's, and some
    fields replaced."""
    content = bytearray(draw(st.sampled_from(of)))
    for _ in range(draw(st.integers(0, 6))):
        begin = draw(st.integers(0, len(content)))
        end = min(begin + draw(st.integers(0, 60)), len(content))
        kind = draw(st.integers(0, 6))
        if kind == 0:
            del content[begin:end]
        elif kind == 1:
            content[begin:begin] = content[begin:end]
        elif kind == 2:
            content[begin:end] = draw(st.binary(max_size=8))
        elif kind == 3:
            content[begin:begin] = draw(st.sampled_from(of))[begin : begin + 80]
        elif kind == 4:
            content[begin:end] = draw(st.sampled_from(_SPLICES))
        elif field := _FIELD.search(content, begin):
            content[field.start() : field.end()] = draw(st.sampled_from(_VALUES))
    return bytes(content)


def try_changes(of: list[bytes], check: Callable[[bytes], object]) -> None:
    """Call `check` with changed seeds, as often as is asked for."""

    @settings(
        max_examples=_EXAMPLES, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )  # fmt: skip
    @given(changed(of))
    def attempt(content: bytes) -> None:
        check(content)

    attempt()


def result_of(read: Callable[[Path], _Read], file: Path, content: bytes) -> _Read | RefusedError:
    """Return what comes of a file with this content: a refusal says in which file the fault is."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    try:
        return read(file)
    except RefusedError as error:
        refusal = error
    assert str(file.parent) in str(refusal)
    return refusal
