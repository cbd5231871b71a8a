# SPDX-License-Identifier: Apache-2.0
"""The results of a run: the analysis after it, and the last lines of `ccu run`."""

from __future__ import annotations

import gc
import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from ccu.host import disk
from ccu.spec.errors import RunFailed
from ddu.cli.results import Ending
from ddu.console.ownership import give_to_sudo_user
from ddu.console.problems import CommandError, RefusedError


class NotAnalysed(CommandError):  # noqa: N818
    """A run was recorded, but cannot be analysed."""

    def __init__(self, run: Path, error: RefusedError) -> None:
        super().__init__(f"{error}\nthe run was recorded: {run}")
        self.reason = str(error)


@dataclass(frozen=True)
class Results:
    """Whether a run is analysed, and how the command ends."""

    analyse: bool = True
    ending: Ending = field(default_factory=Ending)

    def prepare(self) -> None:
        """Load what the analysis needs, while the run waits for its kernel on another core."""
        if self.analyse:
            Thread(target=_prepare).start()

    def show(self, run: Path) -> None:
        """Analyse the run and print its results, or what it recorded. Raises NotAnalysed."""
        content = json.loads((run / "run.json").read_text())
        if self.analyse and content.get("captures"):
            self._show_analysed(run, content)
        elif self.ending.as_json:
            _print_recorded(run, content)
        else:
            _show_recorded(run, content)

    def _show_analysed(self, run: Path, content: dict[str, Any]) -> None:
        try:
            summary = analysed(run)
        except NotAnalysed as error:
            if self.ending.as_json:
                failure = {"stage": "analysis", "reason": error.reason}
                _print_recorded(run, content, failure=failure)
            raise
        self.ending.show(run, summary)

    def show_failure(self, error: RunFailed) -> None:
        """Print as JSON why a run has no results, where that was asked for; the error itself goes
        to standard error."""
        if self.ending.as_json:
            failure = {"stage": error.stage, "reason": error.reason}
            directory = str(error.directory) if error.directory else None
            print(json.dumps({"directory": directory, "report": None, "failure": failure}))


def _prepare() -> None:
    from ddu import api

    api.prepare()


def analysed(run: Path) -> dict[str, Any]:
    """Analyse the run and return its summary. Raises NotAnalysed."""
    # One analysis leaves next to no reference cycles: looking for them takes a tenth of a second.
    gc.disable()
    from ddu.api import analyze

    try:
        return analyze(run)
    except RefusedError as error:
        raise NotAnalysed(run, error) from None
    finally:
        give_to_sudo_user(run)
        gc.enable()


def _print_recorded(run: Path, content: dict[str, Any], **more: object) -> None:
    """Print as JSON what a run without an analysis has."""
    recorded = {key: content[key] for key in ("verdict", "verdict_reasons", "flows")}
    print(json.dumps({"directory": str(run), "report": None, **recorded, **more}))


def _received(flow: dict[str, Any]) -> str:
    # The bytes include those still queued when the traffic ended; so does the time.
    size_bytes, lasted_s = float(flow["received_bytes"]), float(flow["with_drain_s"])
    if not lasted_s:  # All came at once.
        return disk.amount(size_bytes)
    return f"{size_bytes * 8 / lasted_s / 1e6:.1f} Mbit/s"


def _show_recorded(run: Path, content: dict[str, Any]) -> None:
    """Print the bytes that the receivers counted, the verdict, and the run's directory last."""
    for flow in content["flows"]:
        cc = flow["cc_read_back"] or flow["cc"]
        counted = f"{_received(flow)} received, as the receiver counted it"
        print(f"{flow['id']}  {cc}  {flow['direction']}  {counted}")
    reasons = "; ".join(content["verdict_reasons"])
    print(f"verdict: {content['verdict']}{f' ({reasons})' if reasons else ''}")
    if content.get("captures"):
        print(f"next: ddu analyze {shlex.quote(str(run))}")
    else:
        print("no capture: it cannot be analysed; its measurements are in raw/")
    print(f"run: {run}")
