# SPDX-License-Identifier: Apache-2.0
"""Starts the programs of a run, notices when one dies, and leaves none behind."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ccu.host import processes
from ccu.host.processes import StartedProcess
from ccu.host.resources import Resources
from ccu.spec.errors import Interrupted, RunFailed

_POLL_S = 0.02
_SETTLE_S = 0.3


@dataclass
class Process:
    """A started program; `stage` is the part of the run that fails with it."""

    name: str
    stage: str
    popen: subprocess.Popen[bytes]
    output: Path
    log: Path
    lasting: bool
    """It has to live until it is stopped; the others end by themselves, with exit code 0."""
    stopped: bool = False

    @property
    def ended(self) -> bool:
        return self.popen.poll() is not None


class Supervisor:
    """All processes of one run. Each writes to files, so that nothing blocks on a pipe."""

    def __init__(self, resources: Resources, logs: Path) -> None:
        self._resources = resources
        self._logs = logs
        self._processes: list[Process] = []
        self._watchers: list[Callable[[], None]] = []
        self.interrupted_by: str | None = None
        """The signal that asks for the run to end."""

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        stage: str,
        output: Path | None = None,
        lasting: bool = True,
    ) -> Process:
        """Starts `command`; it gets SIGTERM if ccu itself is killed. Raises RunFailed."""
        log = self._logs / f"{name}.log"
        out = output or self._logs / f"{name}.out"
        with out.open("wb") as stdout, log.open("wb") as stderr:
            popen = self._spawn(stage, command, stdout, stderr)
        process = Process(name, stage, popen, out, log, lasting)
        self._processes.append(process)
        if who := processes.identify(popen.pid):
            self._resources.register(StartedProcess(name, *who))
        return process

    @staticmethod
    def _spawn(
        stage: str, command: Sequence[str], stdout: IO[bytes], stderr: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                # Its own session: Ctrl-C is for ccu, which stops its programs in order.
                start_new_session=True,
                preexec_fn=processes.dying_with_us(),
            )
        except OSError as error:
            raise RunFailed(stage, f"{command[0]}: {error.strerror}") from None

    def wait_for(
        self, process: Process, ready: Callable[[], Any], what: str, patience_s: float = 15.0
    ) -> Any:
        """The first true value of `ready`; RunFailed if any process dies first or none comes."""
        deadline = time.monotonic() + patience_s
        while True:
            if value := ready():
                return value
            self.check()
            if time.monotonic() > deadline:
                raise RunFailed(
                    process.stage,
                    f"{process.name}: not {what} after {patience_s:g} s{_last_lines(process)}",
                )
            time.sleep(_POLL_S)

    def wait_ready_event(self, process: Process) -> dict[str, Any]:
        """The program's line {"event":"ready",…} on stdout."""

        def ready() -> dict[str, Any] | None:
            line, newline, _ = process.output.read_text().partition("\n")
            event = json.loads(line) if newline and line.startswith("{") else {}
            return event if event.get("event") == "ready" else None

        found: dict[str, Any] = self.wait_for(process, ready, "ready")
        return found

    def watch(self, look: Callable[[], None]) -> None:
        """`look` raises RunFailed when something that is no process has failed."""
        self._watchers.append(look)

    def check(self) -> None:
        """Raises RunFailed if a program has failed, or ended that should have lasted; Interrupted
        if a signal has come."""
        if self.interrupted_by:
            raise Interrupted(f"interrupted by {self.interrupted_by}")
        if not self._fallen():
            for look in self._watchers:
                look()
            return
        # What the fallen one depended on may take longer to be gone, and is the one to name.
        time.sleep(_SETTLE_S)
        process = self._fallen()[0]
        code = process.popen.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        raise RunFailed(process.stage, f"{process.name} {how}{_last_lines(process)}")

    def _fallen(self) -> list[Process]:
        """In the order in which they were started."""
        return [
            process
            for process in self._processes
            if not process.stopped
            and process.popen.poll() is not None
            and (process.lasting or process.popen.returncode != 0)
        ]

    def stop(
        self, process: Process, sent: signal.Signals = signal.SIGTERM, patience_s: float = 10.0
    ) -> int:
        """Ends one program, in kindness first; returns its exit code."""
        process.stopped = True
        if not process.ended:
            process.popen.send_signal(sent)
        try:
            return process.popen.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.popen.kill()
            return process.popen.wait()
        finally:
            with contextlib.suppress(OSError):
                if process.log.stat().st_size == 0:
                    process.log.unlink()

    def stop_all(self) -> None:
        """Ends what still runs, the newest first."""
        for process in reversed(self._processes):
            if not process.stopped:
                self.stop(process, patience_s=3.0)


def _last_lines(process: Process, count: int = 5) -> str:
    """What the program said last: of iperf3's JSON its error, of others the end of the log."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if said := json.loads(process.output.read_text()).get("error"):
            return f": {said}"
    for file in (process.log, process.output):
        with contextlib.suppress(OSError):
            if lines := file.read_text(errors="replace").strip().splitlines()[-count:]:
                return ": " + "\n  ".join(lines)
    return ""
