# SPDX-License-Identifier: Apache-2.0
"""The summary.json of a run that nobody made, for tests of what reads its numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_summary(
    run: Path, verdict: str = "valid", flows: tuple[dict[str, Any], ...] = ({},), **numbers: object
) -> None:
    """Write what a summary must have, and these numbers of the run and of its flows."""
    listed = [
        {"id": f"f{index}", "cc": "cubic", "direction": "dl", **flow}
        for index, flow in enumerate(flows)
    ]
    needed = {"verdict": verdict, "verdict_reasons": [], "bin_ms": 20.0}
    (run / "summary.json").write_text(json.dumps({**needed, **numbers, "flows": listed}))
