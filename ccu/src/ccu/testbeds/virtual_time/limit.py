# SPDX-License-Identifier: Apache-2.0
"""The end of a run whose traffic is not over at its time limit, in the words of an experiment."""

from __future__ import annotations

import re

# nr-link names the key of its plan, which ccu writes and users of ccu do not know.
_LATE = re.compile(r"after (\S+) s of virtual time these still run: (.+)\. Raise limit_s")


def unfinished(said: str, fix: str) -> str | None:
    """Return what nr-link said did not finish in time, with the fix; None if it said no such thing.

    `said`: its standard error. `fix`: what the experiment may change, as an imperative sentence.
    """
    if late := _LATE.search(said):
        limit_s, which = late.groups()
        return f"after {limit_s} s of virtual time, not finished: {which}. {fix}"
    return None
