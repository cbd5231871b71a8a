# SPDX-License-Identifier: Apache-2.0
"""Inputs that are nearly right, for the fuzzing of readers; DDU_FUZZ_EXAMPLES says how many."""

from __future__ import annotations

import os

from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("DDU_FUZZ_EXAMPLES", "40"))
_SPLICES = (
    b"-1.-5", b"nan", b"99999999999999999999999", b"\n", b";", b":", b"/", b"-", b"\x1b[32m",
    b"### 1795282797.5\n", b"Frame.Slot 1023.19\n", b"1e999", b"0",
)  # fmt: skip
"""Texts that mean something to a reader: wrong numbers, separators, stamps."""


@st.composite
def changed(draw: st.DrawFn, of: list[bytes]) -> bytes:
    """A seed with some spans cut out, doubled, overwritten, or joined with another's."""
    content = bytearray(draw(st.sampled_from(of)))
    for _ in range(draw(st.integers(0, 6))):
        begin = draw(st.integers(0, len(content)))
        end = min(begin + draw(st.integers(0, 60)), len(content))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            del content[begin:end]
        elif kind == 1:
            content[begin:begin] = content[begin:end]
        elif kind == 2:
            content[begin:end] = draw(st.binary(max_size=8))
        elif kind == 3:
            content[begin:begin] = draw(st.sampled_from(of))[begin : begin + 80]
        else:
            content[begin:end] = draw(st.sampled_from(_SPLICES))
    return bytes(content)
