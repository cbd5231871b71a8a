# SPDX-License-Identifier: Apache-2.0
"""Other values of a policy's parameters while it runs, which come as lines of JSON."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from types import FrameType


class Changes:
    """A descriptor that gets a mapping of NAME to VALUE each line.

    In virtual time SIGUSR1 says that one has come, so that a policy without changes, and one with,
    do the same until then; in real time it is looked for whenever reports are.
    """

    def __init__(self, descriptor: int, *, is_signalled: bool) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._partial = b""
        self._is_signalled = is_signalled
        self._has_come = False
        if is_signalled:
            signal.signal(signal.SIGUSR1, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._has_come = True

    def new(self) -> Iterator[dict[str, str]]:
        """Yield the mappings that have come."""
        if self._is_signalled and not self._has_come:
            return
        self._has_come = False
        try:
            content = os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return
        *lines, self._partial = (self._partial + content).split(b"\n")
        for line in lines:
            yield json.loads(line)
