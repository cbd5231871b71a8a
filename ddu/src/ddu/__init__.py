# SPDX-License-Identifier: Apache-2.0
"""ddu: from a run's raw captures to tables, figures and a report.

>>> ddu.open_run("runs/…").aligned       # the aligned table, a DataFrame
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's takes milliseconds to import, in which Ctrl-C is a traceback.
if TYPE_CHECKING:
    from typing import Any

    from ddu.api import Run, open_run

__all__ = ["Run", "open_run"]


def __getattr__(name: str) -> Any:
    # Imported when first used: pandas takes half a second, and most commands need none of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("ddu.api"), name)
