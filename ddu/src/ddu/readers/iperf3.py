# SPDX-License-Identifier: Apache-2.0
"""What iperf3's own JSON says was received."""

from __future__ import annotations

import json
from pathlib import Path


def received_bytes(raw: Path, flow_id: str) -> int | None:
    """Payload bytes that the receiver of a flow read, by its own count; None if it did not say."""
    for role in ("server", "client"):
        file = raw / f"iperf3-{flow_id}-{role}.json"
        try:
            end = json.loads(file.read_bytes())["end"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        for key in ("sum_received", "sum"):
            count = end.get(key, {}).get("bytes")
            if count:
                return int(count)
    return None
