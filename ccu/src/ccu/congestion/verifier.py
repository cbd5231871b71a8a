# SPDX-License-Identifier: Apache-2.0
"""Messages of the kernel's verifier on a BPF program, in plain words with the source's line."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from ccplane.loader.libbpf import LoadError
from ccplane.loader.program import Program
from ddu.console.problems import RefusedError, refusal

_LINE = re.compile(r"^; (?P<text>.*?)(?: @ (?P<file>[^@]+):(?P<line>\d+))?$")
_MEANINGS = (  # The verifier's words (kernel/bpf/verifier.c), and what to do.
    (r"invalid mem access '(map_value_or_null|ptr_or_null|mem_or_null)",
     "a pointer may be NULL here", "compare it with NULL first"),
    (r"invalid mem access 'scalar'", "a number is used as a pointer",
     "take pointers from the function's arguments and from helpers only"),
    (r"(infinite loop|back-edge|program is too large|too many states|sequence of \d+ jumps)",
     "the verifier sees no end of a loop", "give the loop a constant limit"),
    (r"(no write support|write to.*not (allowed|supported)|cannot write into|only read is supported"
     r"|no struct.*write|off \d+ doesn't point to)",
     "this field may be read, not written", "see docs/congestion-controls.md for those that may"),
    (r"(unknown func|not allowed|kernel function .* (is )?not)", "the function may not be called",
     "see cc/bpf/congestion.h for those that may"),
    (r"(unbounded memory access|invalid access to|outside of the allowed|min value is)",
     "an index or length may be out of range", "compare it with the limit first"),
    (r"!read_ok", "a value is used that was never set", "set it on every path"),
    (r"stack.*(too large|limit)", "local variables take more than 512 bytes",
     "keep them in a map or in the private area"),
    (r"(R0 .*return|At program exit)", "the returned value is not allowed", "return a number"),
)  # fmt: skip


def check(binary: Path, source: Path) -> None:
    """Load the compiled program and drop it. Raises RefusedError if the kernel does not take it."""
    try:
        with closing(Program(binary)) as program:
            program.load()
    except LoadError as error:
        raise explained(f"{error.log}{error}", source) from None


def explained(log: str, source: Path) -> RefusedError:
    """Return the refusal that libbpf's log of a failed load means."""
    lines = [line.strip() for line in log.splitlines()]
    end = next((at for at, line in enumerate(lines) if line.startswith("processed ")), len(lines))
    said = next((line for line in lines[end - 1 :: -1] if _is_reason(line)), "")
    where = next((place for line in lines[end - 1 :: -1] if (place := _LINE.match(line))), None)
    line = int(where["line"]) if where and where["line"] else _number_of(where, source)
    for pattern, meaning, fix in _MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            rule = f"the kernel's verifier refuses this: {meaning} ({said})"
            return refusal(rule, fix, file=source, line=line)
    # Not the verifier, or words of it that are not known here.
    said = said if end < len(lines) else (lines or ["it gave no reason"])[-1]
    return refusal(f"the kernel refuses the program: {said}", file=source, line=line)


def _is_reason(line: str) -> bool:
    """Return whether this is not a line of source, instruction or state."""
    return bool(line) and not re.match(r"(;|\d+: |from \d+|R\d+=|libbpf|-- )", line)


def _number_of(where: re.Match[str] | None, source: Path) -> int | None:
    """Return the line of a source text that older kernels print without its number."""
    if where is None or not where["text"]:
        return None
    texts = enumerate(source.read_text(errors="replace").splitlines(), 1)
    return next((number for number, text in texts if where["text"].strip() in text), None)
