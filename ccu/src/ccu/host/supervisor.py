# SPDX-License-Identifier: Apache-2.0
"""The supervisor of a run's programs: it starts them, notices failures, and ends all of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ccu.host import disk, processes
from ccu.host.processes import StartedProcess, ending_text
from ccu.host.resources import Resources
from ccu.spec.errors import Interrupted, RunFailed
from ddu.console.colours import uncoloured

_POLL_S = 0.02
_NOTICE_S = 3.0  # from the end of a program in a container until Docker's or LXC's own has ended
_SETTLE_S = 0.3  # between the failure of one program and that of the next, which may be its cause


@dataclass
class Process:
    """A started program; `stage` is the part of the run that a failure of it belongs to."""

    name: str
    stage: str
    popen: subprocess.Popen[bytes]
    output: Path
    log: Path
    lasting: bool
    """True if it must run until it is stopped; others end by themselves, with exit code 0."""
    stopped: bool = False
    how_it_ended: Callable[[], str | None] = lambda: None
    """Returns how the container has ended whose log the program follows, which the program's own
    exit code does not show; None for other programs."""

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
        """The signal that interrupts the run, if one has come."""

    def interrupt(self, by: str) -> None:
        """Let the next check raise Interrupted, by the signal of that name."""
        self.interrupted_by = by

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        stage: str,
        output: Path | None = None,
        lasting: bool = True,
    ) -> Process:
        """Start `command`, which gets SIGTERM if ccu itself is killed, with its standard output in
        `output` or NAME.out, and its errors in NAME.log. Raises RunFailed."""
        log = self._logs / f"{name}.log"
        out = output or self._logs / f"{name}.out"
        with _opened(out) as stdout, _opened(log) as stderr:
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
                # In a session of its own: Ctrl-C reaches ccu only, which stops its programs in
                # order.
                start_new_session=True,
                preexec_fn=processes.end_with_parent(),
            )
        except OSError as error:
            raise RunFailed(stage, f"{command[0]}: {error.strerror}") from None

    def wait_for(
        self, process: Process, ready: Callable[[], Any], what: str, patience_s: float = 15.0
    ) -> Any:
        """Return the first true value of `ready`, which means that `process` is `what` (`ready`,
        `listening`). Raises RunFailed if a program fails or the time is up."""
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
        """Wait for the line {"event":"ready",…} on the program's stdout."""

        def ready() -> dict[str, Any] | None:
            line, newline, _ = process.output.read_text().partition("\n")
            event = json.loads(line) if newline and line.startswith("{") else {}
            return event if event.get("event") == "ready" else None

        event: dict[str, Any] = self.wait_for(process, ready, "ready")
        return event

    def watch(self, look: Callable[[], None]) -> None:
        """Add a check that raises RunFailed when something other than a process has failed."""
        self._watchers.append(look)

    def check(self) -> None:
        """Raise RunFailed if a program has failed or ended too early, Interrupted after a
        signal."""
        self.check_interrupt()
        self._check_programs()
        for look in self._watchers:
            look()

    @contextlib.contextmanager
    def programs_first(self) -> Iterator[None]:
        """Raise that a program has failed, in place of what failed because of that: a connection to
        it is lost earlier than its end is noticed."""
        try:
            yield
        except RunFailed:
            deadline = time.monotonic() + _NOTICE_S
            while not self._failed() and time.monotonic() < deadline:
                time.sleep(_POLL_S)
            self._check_programs()
            raise

    def _check_programs(self) -> None:
        if not self._failed():
            return
        # The cause may be a program that ends a little later: wait, and report the one that was
        # started first. A full disk is the cause of whatever a program reports.
        time.sleep(_SETTLE_S)
        process = self._failed()[0]
        disk.watch(self._logs, disk.FULL_BYTES)
        how = process.how_it_ended() or ending_text(process.popen.returncode)
        raise RunFailed(process.stage, f"{process.name} {how}{_last_lines(process)}")

    def check_interrupt(self) -> None:
        """Raise Interrupted after a signal, whatever the programs do."""
        if self.interrupted_by:
            raise Interrupted(f"interrupted by {self.interrupted_by}")

    def _failed(self) -> list[Process]:
        """Return the failed programs in the order in which they were started."""
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
        """End one program by the signal, then SIGKILL; return its exit code. An empty log is
        removed."""
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
        """End all running programs, the newest first."""
        for process in reversed(self._processes):
            if not process.stopped:
                self.stop(process, patience_s=3.0)


def _opened(file: Path) -> IO[bytes]:
    """Open an empty file, and none that a link in its place leads to."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    return os.fdopen(os.open(file, flags, 0o666), "wb")


def _last_lines(process: Process) -> str:
    """Return the last output of the program: the error in its JSON, or the end of the log."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if error := json.loads(process.output.read_text()).get("error"):
            return f": {error}"
    for file in (process.log, process.output):
        with contextlib.suppress(OSError):
            printed = uncoloured(file.read_text(errors="replace"))
            if lines := printed.strip().splitlines()[-5:]:
                return ": " + "\n  ".join(lines)
    return ""
