# SPDX-License-Identifier: Apache-2.0
"""Commands and processes that run code of ours by this Python, from any folder.

`python -m`, `python -c` and what multiprocessing starts import from the current folder first: its
`json.py` would run in place of the standard library's, with the rights of the one who starts it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

_HAS_OPTION = sys.version_info >= (3, 11)
"""Whether Python has -P. It leaves what PYTHONPATH names, which -I does not."""
_LEAVE = "import sys; sys.path[:1] == [''] and sys.path.pop(0); "
"""The program that does without -P what it does for `python -c`; `sys` is no file. Before 3.13,
Python imports nothing between the folder's entry and the program's first line."""
_RUN = "import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"

_Context = TypeVar("_Context")


def of_file(path: str) -> list[str]:
    """Return the command that runs a Python file, or a folder with `__main__.py`.

    Python 3.10 looks for modules beside the file as well.
    """
    return [sys.executable, *(["-P"] if _HAS_OPTION else []), "-B", path]


def of_package(name: str) -> list[str]:
    """Return the command that runs a package, or a module that imports others of its package."""
    if _HAS_OPTION:
        return [sys.executable, "-P", "-B", "-m", name]
    return [*of_code(_RUN), name]


def of_code(code: str) -> list[str]:
    """Return the command that runs a program that is a text."""
    if _HAS_OPTION:
        return [sys.executable, "-P", "-B", "-c", code]
    return [sys.executable, "-B", "-c", _LEAVE + code]


def safe(context: _Context) -> _Context:
    """Return a context of multiprocessing, after seeing to it that no process that multiprocessing
    starts from now on, for us or for itself, imports from the current folder."""
    from multiprocessing import util  # Most commands start no processes.

    if not isinstance(util.spawnv_passfds, _Start):
        util.spawnv_passfds = _Start(util.spawnv_passfds)  # type: ignore[assignment]
    return context


class _Start(NamedTuple):
    """The function of multiprocessing through which it starts each interpreter."""

    before: Callable[..., int]

    def __call__(self, path: Any, args: Sequence[Any], passfds: Sequence[int]) -> int:
        return self.before(path, _safe(args), passfds)


def _safe(words: Sequence[Any]) -> list[Any]:
    """Return a command that has the form PYTHON OPTION… -c PROGRAM WORD…, made safe."""
    python, *others = words
    if _HAS_OPTION:
        return [python, "-P", *others]
    program = others.index("-c") + 1
    return [python, *others[:program], _LEAVE + others[program], *others[program + 1 :]]
