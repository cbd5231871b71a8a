# SPDX-License-Identifier: Apache-2.0
"""One fault in one command, and its outcome."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from testsupport.faults import processes
from testsupport.faults.calls import POWER, Fault, Kind, Shared
from testsupport.faults.subjects import Subject

_COUNTING = 1 << 60
_LOADERS_END = 127
"""The code with which glibc ends a process whose thread has no memory for its variables."""


@dataclass(frozen=True)
class Injected:
    """The outcome of one fault."""

    subject: str
    kind: str
    number: int
    outcome: str
    """`error`, `success`, `killed`, `crashed` (out of memory only), or `not reached`."""
    complaint: str = ""
    """A sentence about what is wrong; empty if nothing is."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Injector:
    """Injects faults into a subject, each into a fresh copy of its folder."""

    def __init__(self, subject: Subject, shared: Shared, folder: Path) -> None:
        self.subject = subject
        self._shared = shared
        self._folder = folder
        self._template = folder / "template"
        self._template.mkdir(parents=True)
        subject.prepare(self._template)
        self._expected: Any = None

    def count(self) -> dict[Kind, int]:
        """Return how many calls of each kind the command makes when nothing fails."""
        work = self._fresh()
        try:
            ended, calls, _ = self._command(work, Fault(Kind.WRITE.name or "", _COUNTING))
            assert ended.code == 0, f"{self.subject.name} fails without a fault: {ended.printed}"
            self._expected = self._check(work)
            assert self._expected is not None, f"{self.subject.name} made nothing"
            self._clean(work)
        finally:
            shutil.rmtree(work)
        return calls

    def inject(self, fault: Fault) -> Injected:
        """Let the command meet the fault, and return what became of it."""
        work = self._fresh()
        outcome, complaint = "error", ""
        try:
            ended, _, fired = self._command(work, fault)
            outcome, complaint = self._judge(fault, ended, fired)
            if fault.kind == POWER and outcome == "killed":
                self._shared.lose_unsynced(work)
            made = self._check(work)
            warned = self.subject.warning and self.subject.warning in ended.printed
            if outcome == "success" and not complaint and not warned and made != self._expected:
                complaint = f"it says success, and has made {made}, not {self._expected}"
            self._clean(work)
            complaint = complaint or self._next(work, fault.kind == POWER)
        except (processes.HangsError, AssertionError) as error:
            complaint = complaint or str(error)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return Injected(self.subject.name, fault.kind, fault.number, outcome, complaint)

    def _fresh(self) -> Path:
        work = Path(tempfile.mkdtemp(dir=self._folder))
        shutil.copytree(self._template, work, dirs_exist_ok=True)
        return work

    def _command(self, work: Path, fault: Fault) -> tuple[processes.Ended, dict[Kind, int], bool]:
        try:
            ended = processes.command(
                self.subject.command.split(), work, lambda: self._shared.arm(fault)
            )
        finally:
            calls, fired = self._shared.disarm()
        return ended, calls, fired

    def _judge(self, fault: Fault, ended: processes.Ended, fired: bool) -> tuple[str, str]:
        """Return the outcome of a command, and what is wrong with its end."""
        last = ended.printed.strip()[-1500:]
        if not fired:
            return "not reached", "" if ended.code == 0 else f"code {ended.code}: {last}"
        if fault.ends and ended.code == -9:
            return "killed", ""
        if ended.code < 0:
            # Libraries in C++ end the process where they cannot have memory.
            wrong = "" if fault.kind == Kind.MEMORY.name else f"signal {-ended.code}: {last}"
            return "crashed", wrong
        if ended.code == 0:
            return "success", ""
        if fault.kind == Kind.MEMORY.name and (
            ended.code == _LOADERS_END or "Traceback" in ended.printed
        ):
            return "crashed", ""  # So do some in Python, and the C library.
        program = self.subject.command.split()[0]
        if "Traceback" in last or f"{program}: error: " not in last:
            return "error", f"not a clear error (code {ended.code}): {last}"
        if ended.code not in (1, 2):
            return "error", f"exit code {ended.code}: {last}"
        return "error", ""

    def _check(self, work: Path) -> Any:
        return processes.result_of(lambda: self.subject.results(work))

    def _clean(self, work: Path) -> None:
        processes.result_of(lambda: self.subject.before_next(work))

    def _next(self, work: Path, rebooted: bool) -> str:
        """Run the command again, without a fault; return what is wrong then."""
        ended = processes.command(self.subject.command.split(), work, lambda: None)
        if ended.code != 0:
            return f"the next command fails (code {ended.code}): {ended.printed[-1500:]}"
        if (made := self._check(work)) != self._expected:
            return f"the next command made {made}, not {self._expected}"
        self._clean(work)
        remains = self.subject.remains(work, rebooted)
        return f"the next command leaves {', '.join(remains)}" if remains else ""
