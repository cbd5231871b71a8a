# SPDX-License-Identifier: Apache-2.0
"""The software of a run, as run.json has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_GUEST = "virtual-kernel"
"""The kernel of the hosts in virtual time."""


def of_the_run(software: Mapping[str, Any]) -> dict[str, Any]:
    """Return the software with one kernel: that whose TCP ran, in virtual time not the host's."""
    others = {name: version for name, version in software.items() if name != _GUEST}
    return others | ({"kernel": software[_GUEST]} if _GUEST in software else {})
