# SPDX-License-Identifier: Apache-2.0
"""Our commands in processes of their own, forked from one that has imported what they import.

Imports are most of what a short command costs. Otherwise the command runs as if started: with its
own arguments, folder, environment, output and exit code.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent

_IMPORTED = (
    "ccu.cli.main",
    "ccu.cli.progress",
    "ccu.runs.run",
    "ddu.cli.main",
    "ddu.api",
    "rich.progress",
    "typer._adapters",
)
_MOST_BYTES = 1 << 17


def command(
    name: str,
    *arguments: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run `ccu` or `ddu` to its end, with `environment` besides ours; keep what it says."""
    words = [str(BIN / name), *map(str, arguments)]
    around = {
        "folder": str(folder or Path.cwd()),
        "environment": {**os.environ, **(environment or {})},
    }
    request = json.dumps({"words": words, **around})
    answers, answer = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, answers:
        with answer:
            files = [out.fileno(), err.fileno(), answer.fileno()]
            socket.send_fds(_server(), [request.encode()], files)
        pid = int(answers.recv(64))
        answers.settimeout(timeout_s)
        try:
            code = int(answers.recv(64))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(words, timeout_s) from None
        said = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
    return subprocess.CompletedProcess(words, code, *(text.decode() for text in said))


@cache
def _server() -> socket.socket:
    """Start the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "testsupport.prepared", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()  # so that its processor time is known to who measures ours

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> list[str]:
    """Fork a process for each request; return in it, with its words."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with requests, selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in running:
                    selector.unregister(key.fd)
                    _answer(key.fd, *running.pop(key.fd))
                    continue
                request, files, _, _ = socket.recv_fds(requests, _MOST_BYTES, 3)
                if not request:
                    sys.exit()
                answer = socket.socket(fileno=files.pop())
                pid = os.fork()
                if pid == 0:
                    answer.close()
                    for ended, (_, other) in running.items():
                        os.close(ended)
                        other.close()
                    return _become(json.loads(request), files)
                for file in files:
                    os.close(file)
                answer.send(str(pid).encode())
                ended = os.pidfd_open(pid)
                running[ended] = (pid, answer)
                selector.register(ended, selectors.EVENT_READ)


def _answer(ended: int, pid: int, answer: socket.socket) -> None:
    """Send the exit code of a process that has ended."""
    os.close(ended)
    with answer:
        answer.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(request: dict[str, Any], files: list[int]) -> list[str]:
    """Make this process what was asked for; return its words."""
    for file, standard in zip(files, (1, 2), strict=True):
        os.dup2(file, standard)
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    return list(request["words"])


if __name__ == "__main__":
    for module in _IMPORTED:
        importlib.import_module(module)
    gc.freeze()
    sys.argv = _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_path(sys.argv[0], run_name="__main__")
