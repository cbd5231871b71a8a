# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest (`-p testsupport.reached`) that prints which share of each reader's lines ran.

Lines of functions count, those that an import runs do not. A function is traced until all of its
lines have run, so that the tests take little longer. Processes that a reader starts are not seen.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ddu.installation import CHECKOUT

assert CHECKOUT is not None
_ROOT = CHECKOUT
_SOURCES = tuple(_ROOT / folder for folder in ("ddu/src/ddu", "ccu/src/ccu"))
_READERS = (
    "readers/**/*.py", "console/input_file.py", "importing/copying.py", "run/manifest.py",
    "campaign/load.py", "campaign/attempts.py", "tables/results.py", "store/tails.py",
    "reproductions/records.py", "scenarios/sources/*.py", "scenarios/sets.py",
    "scenarios/radios.py", "spec/yaml_*.py", "spec/resolve.py", "recipes/recipe.py",
    "congestion/parameters.py", "campaigns/definition.py",
)  # fmt: skip


def _functions(code: CodeType) -> Iterator[CodeType]:
    if code.co_flags & inspect.CO_OPTIMIZED:  # Modules and classes are not.
        yield code
    for inner in filter(inspect.iscode, code.co_consts):
        yield from _functions(inner)


_Key = tuple[str, int, str]
_LEFT: dict[_Key, set[int]] = {}
"""The lines of each function that have not run yet."""
_COUNTS: dict[str, int] = {}


def pytest_sessionstart() -> None:
    for file in sorted(one for root in _SOURCES for form in _READERS for one in root.glob(form)):
        for code in _functions(compile(file.read_bytes(), str(file), "exec")):
            lines = {line for _, _, line in code.co_lines() if line is not None}
            _LEFT[str(file), code.co_firstlineno, code.co_name] = lines
            _COUNTS[str(file)] = _COUNTS.get(str(file), 0) + len(lines)
    sys.settrace(_trace)


def _trace(frame: FrameType, _event: str, _value: Any) -> Any:
    code = frame.f_code
    left = _LEFT.get((code.co_filename, code.co_firstlineno, code.co_name))
    if not left:
        return None
    left.discard(frame.f_lineno)
    return _trace if left else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    sys.settrace(None)
    for file, count in _COUNTS.items():
        ran = count - sum(len(lines) for (of, *_), lines in _LEFT.items() if of == file)
        name = Path(file).relative_to(_ROOT)
        terminalreporter.write_line(f"{name}: {ran} of {count} lines, {ran / count:.0%}")
