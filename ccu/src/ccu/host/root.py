# SPDX-License-Identifier: Apache-2.0
"""The check that ccu runs as root, where it makes network namespaces and devices."""

from __future__ import annotations

import os

from testbed_console.problems import refusal


def need_root(command: str) -> None:
    """Raises RefusedError with the command to type instead, if this is not root."""
    if os.geteuid() != 0:
        raise refusal("network namespaces and devices need root", f"type: sudo {command}")
