# SPDX-License-Identifier: Apache-2.0
"""The processes of a command's own, forked from one that has imported what they import.

`ccu` spawns them, with an interpreter and imports of their own, which is most of what a short run
costs. Only a command that itself was forked, without a display or threads, can fork them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext
from typing import Any, ClassVar

from ccu.host import child


def fork_children() -> None:
    """Let this process fork what `ccu.host.child.Child` would spawn."""
    child.get_context = lambda _method: _Forking()  # type: ignore[assignment,return-value]


class _Forking(ForkContext):
    """Forks processes that see, as spawned ones do, when their parent closes the connection."""

    outer: ClassVar[list[Connection]] = []

    def Pipe(self, duplex: bool = True) -> tuple[Connection, Connection]:  # noqa: N802
        ends = super().Pipe(duplex)
        self.outer.append(ends[0])
        return ends

    def Process(self, *args: Any, target: Callable[..., object], **named: Any) -> Any:  # noqa: N802
        def apart(*given: Any) -> None:
            for end in self.outer:
                with suppress(OSError):
                    end.close()
            target(*given)

        return super().Process(*args, target=apart, **named)
