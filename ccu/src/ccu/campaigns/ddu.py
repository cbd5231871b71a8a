# SPDX-License-Identifier: Apache-2.0
"""A process of `ddu` that answers one question after another: its start takes longer than that."""

from __future__ import annotations

import json
import subprocess
from typing import Any, TypeVar

from ccu.host import processes, programs

_PATIENCE_S = 10.0
_Self = TypeVar("_Self", bound="Ddu")


class EndedError(Exception):
    """ddu has ended without an answer."""


class Ddu:
    """`ddu campaign COMMAND`, started when first needed; a context manager that ends it."""

    command: str
    stderr: int | None = subprocess.DEVNULL
    """None: that of this process, so that an error of ddu is seen."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        if (process := self._process) is None:
            return
        self._process = None
        process.terminate()
        try:
            process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def ask(self, question: Any) -> Any:
        """Return the answer to a line of JSON, which is another. Raises EndedError."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{json.dumps(question)}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError):  # The next question gets another process.
            self.__exit__()
            raise EndedError(f"ddu ended with code {process.returncode}") from None

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [programs.require("ddu"), "campaign", self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            text=True,
            # Ctrl-C reaches ccu only, which ends it.
            start_new_session=True,
            preexec_fn=processes.end_with_parent(),
        )
