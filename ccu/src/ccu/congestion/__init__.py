# SPDX-License-Identifier: Apache-2.0
"""Congestion controls: who provides which, how one is brought into the kernel for a run.

A provider is one file with an object of a class like `Provider`, named by an entry point of the
group `ccu.congestion` (docs/extending.md). What several provide belongs to the last by name,
and to the kernel's own provider only if nobody else has it.
"""

from ccu.congestion.catalogue import (
    available,
    available_later,
    changed,
    changed_parameters,
    check,
    check_names,
    check_provided,
    describe,
    in_virtual_time,
    loaded,
    not_there,
    problems,
    sources,
    traces,
    try_out,
    unavailable,
)
from ccu.congestion.descriptions import described
from ccu.congestion.files import kept_parameter, kept_source
from ccu.congestion.provider import (
    CAPACITY_FILE,
    START_FILE,
    Control,
    InVirtualTime,
    NewParameters,
    Provided,
    Provider,
    VirtualReport,
)
from ccu.host.setup import Setup

__all__ = [
    "CAPACITY_FILE",
    "START_FILE",
    "Control",
    "InVirtualTime",
    "NewParameters",
    "Provided",
    "Provider",
    "Setup",
    "VirtualReport",
    "available",
    "available_later",
    "changed",
    "changed_parameters",
    "check",
    "check_names",
    "check_provided",
    "describe",
    "described",
    "in_virtual_time",
    "kept_parameter",
    "kept_source",
    "loaded",
    "not_there",
    "problems",
    "sources",
    "traces",
    "try_out",
    "unavailable",
]
