# SPDX-License-Identifier: Apache-2.0
"""`ddu`, which analyses the runs of a campaign one after another.

It stays for all of them: its start takes longer than the analysis of a short run.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from ccu.host import processes, programs

_PATIENCE_S = 10.0


class Answer(NamedTuple):
    """What ddu says of a run."""

    problem: str | None
    """Why there are no tables; None if they are complete."""
    cpu_s: float = 0.0


class Analyst:
    """A process of `ddu` that is started when first needed; a context manager that ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Analyst:
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

    def analyze(self, run: Path) -> Answer:
        """Write tables and summary of the run."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{json.dumps(str(run.resolve()))}\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
        except (OSError, ValueError):  # The next run gets another process.
            self.__exit__()
            return Answer(f"ddu ended with code {process.returncode}")
        return Answer(answer["problem"], answer["cpu_s"])

    @staticmethod
    def _started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [programs.require("ddu"), "campaign", "analyze"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # Ctrl-C reaches ccu only, which ends it.
            start_new_session=True,
            preexec_fn=processes.end_with_parent(),
        )
