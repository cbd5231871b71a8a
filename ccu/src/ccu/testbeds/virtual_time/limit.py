# SPDX-License-Identifier: Apache-2.0
"""The end of a run whose traffic is not over at its time limit, in the words of an experiment."""

from __future__ import annotations

import json
from pathlib import Path


def unfinished(folder: Path, fix: str) -> str | None:
    """Return what did not finish in time by nr-link's account of the run in `folder`, with the fix;
    None if it failed for another reason.

    `fix`: what the experiment may change, as an imperative sentence. nr-link's own names the key of
    its plan, which users of ccu do not know.
    """
    try:
        late = json.loads((folder / "virtual.json").read_text()).get("unfinished")
    except (OSError, ValueError):
        return None
    if late is None:
        return None
    which = [f"flow {name}" for name in late["flows"]]
    which += [f"program {name}" for name in late["programs"]]
    limit = f"after {late['limit_s']:g} s of virtual time"
    return f"{limit}, not finished: {', '.join(which)}. {fix}"
