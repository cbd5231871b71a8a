# SPDX-License-Identifier: Apache-2.0
"""CPU of the testbed's parts, as each reports it at its end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def cpu_of_parts(raw: Path, flows: Iterable[str]) -> dict[str, float]:
    """Return shares of one core: nr-link's from its summary, iperf3's from its JSON; unknown ones
    are left out."""
    shares: dict[str, object] = {"nr-link": _json(raw / "link-summary.json").get("cpu_ratio")}
    for flow in flows:
        end = _json(raw / f"iperf3-{flow}-client.json").get("end")
        cpu = end.get("cpu_utilization_percent", {}) if isinstance(end, dict) else {}
        for key, part in (("host_total", "sends"), ("remote_total", "receives")):
            percent = cpu.get(key)
            if isinstance(percent, (int, float)):
                shares[f"iperf3 {flow} {part}"] = percent / 100
    return {part: float(cpu) for part, cpu in shares.items() if isinstance(cpu, (int, float))}


def _json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
