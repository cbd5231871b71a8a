# SPDX-License-Identifier: Apache-2.0
"""The check for root, which network namespaces and devices need."""

from __future__ import annotations

import os

from testbed_console.problems import refusal


def need_root(command: str) -> None:
    """Raise RefusedError with the command to type instead, if this is not root."""
    if os.geteuid() != 0:
        raise refusal("network namespaces and devices need root", f"type: sudo {command}")
