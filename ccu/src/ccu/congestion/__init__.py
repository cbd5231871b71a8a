# SPDX-License-Identifier: Apache-2.0
"""Congestion controls: who provides which, how one is brought into the kernel for a run.

A provider is one file with an object that has the members of `Provider`, named by an entry point of
the group `ccu.congestion` (docs/extending.md). What several provide belongs to the last by name,
and to the kernel's own provider only if nobody else has it.
"""

from ccu.congestion.catalogue import (
    available,
    available_later,
    check,
    check_names,
    describe,
    loaded,
    trace_file,
    traced,
    unavailable,
)
from ccu.congestion.provider import Control, Provider, Setup

__all__ = [
    "Control",
    "Provider",
    "Setup",
    "available",
    "available_later",
    "check",
    "check_names",
    "describe",
    "loaded",
    "trace_file",
    "traced",
    "unavailable",
]
