# SPDX-License-Identifier: GPL-2.0-only
"""The lines of JSON on standard output."""

from __future__ import annotations

import json


def print_event(**values: object) -> None:
    """Print an event in one line."""
    print(json.dumps(values, separators=(",", ":")), flush=True)
