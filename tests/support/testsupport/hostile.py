# SPDX-License-Identifier: Apache-2.0
"""A folder with modules of somebody else, named as those that Python imports when it starts."""

from __future__ import annotations

from pathlib import Path

_MODULES = ("json", "linecache", "pickle", "runpy", "select", "signal", "socket", "subprocess")
_LEAVES_A_MARK = "import os\nos.close(os.open({mark!r}, os.O_CREAT | os.O_WRONLY, 0o666))\n"


def folder_in(above: Path) -> tuple[Path, Path]:
    """Make the folder; return it, and the file that is there once one of the modules has run.

    Each is also a policy.
    """
    folder, mark = above / "hostile", above / "mark"
    folder.mkdir()
    policy = "class Mine:\n    def report(self, flow, report):\n        pass\n"
    for name in _MODULES:
        (folder / f"{name}.py").write_text(_LEAVES_A_MARK.format(mark=str(mark)) + policy)
    return folder, mark
