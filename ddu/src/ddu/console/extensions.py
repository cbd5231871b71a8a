# SPDX-License-Identifier: Apache-2.0
"""The registry of what packages add by entry points (docs/extending.md).

One that cannot be imported is reported with its package and left out: the rest works.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from types import MappingProxyType
from typing import Any

from ddu.console.problems import RefusedError, refusal
from ddu.installation import install_hint


@cache
def extensions(group: str) -> MappingProxyType[str, Any]:
    """Return the objects that the entry points of `group` name, by their names, in order."""
    names = sorted(_entries(group).names)
    loaded = ((name, extension(group, name)) for name in names)
    return MappingProxyType({name: one for name, one in loaded if one is not None})


@cache
def extension(group: str, name: str) -> Any:
    """Return the object of one entry point; None if there is none, or none that works."""
    return next((_loaded(entry) for entry in _entries(group).select(name=name)), None)


def incomplete(group: str) -> RefusedError:
    """Return the refusal of an installation that lacks this project's own entry points."""
    rule = f"this installation is incomplete: this project's entry points of {group} are missing"
    return refusal(rule, install_hint())


def _entries(group: str) -> EntryPoints:
    """Return the entry points of `group`."""
    entries: EntryPoints = _every_entry().select(group=group)
    return entries


@cache
def _every_entry() -> Any:  # of a type that Python 3.12 has replaced by EntryPoints
    """Return the entry points of all groups, for which the metadata of every package is read."""
    return entry_points()


def _loaded(entry: EntryPoint) -> Any:
    """Return the object; None, after a warning, if its module cannot be imported."""
    try:
        return entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist else "an unknown package"
        reason = " ".join(str(error).split()) or type(error).__name__
        print(
            f"warning: {entry.group} {entry.name} ({entry.value}) of the package {package} cannot "
            f"be imported: {reason}. Fix the package, or uninstall it: pip uninstall {package}",
            file=sys.stderr,
        )
        return None
