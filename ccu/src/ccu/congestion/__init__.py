# SPDX-License-Identifier: Apache-2.0
"""Congestion controls: who provides which, how one is brought into the kernel for a run.

A provider is one file with an object that has the members of `Provider`, named by an entry point of
the group `ccu.congestion` (docs/extending.md). What several provide belongs to the last by name,
and to the kernel's own provider only if nobody else has it.
"""

from ccu.congestion.catalogue import (
    OfFile,
    available,
    available_later,
    by_name,
    check,
    check_names,
    check_parameters_are_taken,
    describe,
    loaded,
    not_there,
    of_files,
    problems,
    trace_file,
    traces,
    unavailable,
)
from ccu.congestion.files import kept_source
from ccu.congestion.provider import Control, InVirtualTime, Provider, Setup
from ccu.congestion.references import referenced

__all__ = [
    "Control",
    "InVirtualTime",
    "OfFile",
    "Provider",
    "Setup",
    "available",
    "available_later",
    "by_name",
    "check",
    "check_names",
    "check_parameters_are_taken",
    "describe",
    "kept_source",
    "loaded",
    "not_there",
    "of_files",
    "problems",
    "referenced",
    "trace_file",
    "traces",
    "unavailable",
]
