# SPDX-License-Identifier: Apache-2.0
"""The values that a shell offers after a flag: the names of `ccu list`."""

from __future__ import annotations

from collections.abc import Callable

LISTS = {
    "--cc": "cc", "--aqm": "aqm", "--scenario": "scenarios", "--radio": "radios", "--drx": "drx",
    "--testbed": "testbeds",
}  # fmt: skip
"""The list of each flag whose values have names."""


def completion(flag: str) -> Callable[[str], list[str]] | None:
    """Return a function of what was typed that returns the names that continue it."""
    what = LISTS.get(flag)
    if what is None:
        return None

    def complete(typed: str) -> list[str]:
        from ccu.cli.list import names

        return [name for name in names(what) if name.startswith(typed)]

    return complete
