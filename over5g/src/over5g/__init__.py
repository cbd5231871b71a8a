# SPDX-License-Identifier: Apache-2.0
"""Experiments over 5G for notebooks and scripts.

>>> import over5g
>>> one = over5g.run(cc="cubic", prb=106, duration="10s")
>>> one.summary["goodput_bps"], one.aligned[["t_s", "tcp_rtt_ms"]]
>>> one                                   # the report, in a notebook
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddu.api import open_run
    from over5g.runs import Run, run

__all__ = ["Run", "__version__", "open_run", "run"]
_PLACES = {"Run": "over5g.runs", "run": "over5g.runs", "open_run": "ddu.api"}


def __getattr__(name: str) -> Any:
    # Imported when first used: pandas and the testbeds take a second.
    if name == "__version__":
        return import_module("ddu.installation").version()
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
