# SPDX-License-Identifier: Apache-2.0
"""`ddu`, which analyses the runs of a campaign one after another."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ccu.campaigns.ddu import Ddu, EndedError


class Answer(NamedTuple):
    """What ddu says of a run."""

    problem: str | None
    """Why there are no tables; None if they are complete."""
    cpu_s: float = 0.0


class Analyst(Ddu):
    """`ddu`, which analyses runs; a context manager."""

    command = "analyze"

    def analyze(self, run: Path) -> Answer:
        """Write tables and summary of the run."""
        try:
            answer = self.ask(str(run.resolve()))
        except EndedError as error:
            return Answer(str(error))
        return Answer(answer["problem"], answer["cpu_s"])
