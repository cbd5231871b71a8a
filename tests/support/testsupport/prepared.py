# SPDX-License-Identifier: Apache-2.0
"""Our commands in processes of their own, forked from one that has imported what they import.

Imports are most of what a short command costs. Otherwise the command runs as if started: with its
own arguments, folder, environment, output and exit code. Processes of its own are forked as well.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import BaseModel
from rich.console import Console

from ccu.host import contain
from ddu.console.extensions import extensions

BIN = Path(sys.executable).parent
WITHOUT_SPEED = "from ccu.cli import doctor; doctor._speed = doctor._root"
"""A value of `changed`: `ccu doctor` has one finding twice in place of the speed of a link in real
time, which takes 2 s of CPU."""

_IMPORTED = (
    "ccplane.kernel",
    "ccplane.loop",
    "ccplane.network",
    "ccplane.policy_file",
    "ccu.cli.campaign",
    "ccu.cli.completion",
    "ccu.cli.help",
    "ccu.cli.main",
    "ccu.cli.options",
    "ccu.cli.progress",
    "ccu.cli.results",
    "ccu.runs.run",
    "ccu.scenarios.link_ahead",
    "ccu.testbeds.choice",
    "ccu.testbeds.namespaces",
    "ccu.testbeds.virtual_time.run",
    "ddu.api",
    "ddu.campaign.analysis",
    "ddu.cli.main",
    "ddu.report.page",
    "email.parser",
    "pyarrow.pandas_compat",
    "rich._emoji_codes",
    "rich.progress",
    "testsupport.forking",
    "typer._adapters",
    "typer._click.decorators",
)
# Their options are those of all packages: a command with packages of its own imports them itself.
_OF_ALL_PACKAGES = ("ccu.cli.list", "ccu.cli.run", "ccu.cli.scenario")
_MOST_BYTES = 1 << 17
_DESCRIPTOR = "TESTSUPPORT_PREPARED"
_PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
server = socket.socket(fileno=int(os.environ["{descriptor}"]))
answers, answer = socket.socketpair(type=socket.SOCK_SEQPACKET)
request = {{"words": ["{program}", *sys.argv[1:]], "folder": os.getcwd(),
           "environment": dict(os.environ), "network": None, "changed": ""}}
with answer:
    socket.send_fds(server, [json.dumps(request).encode()], [1, 2, answer.fileno()])
answers.recv(64)
sys.exit(int(answers.recv(64)))
"""


def command(
    name: str,
    *arguments: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    network: str | None = None,
    changed: str = "",
    timeout_s: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run `ccu` or `ddu` to its end; return what it printed. See `Started`."""
    return Started(
        name, *arguments, folder=folder, environment=environment, network=network, changed=changed
    ).result(timeout_s)


class Started:
    """`ccu` or `ddu` as a process, with what it has printed so far."""

    def __init__(
        self,
        name: str,
        *arguments: object,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        network: str | None = None,
        changed: str = "",
    ) -> None:
        """Start it.

        `environment`: variables besides ours. `network`: the network namespace that it runs in.
        `changed`: Python statements that it executes first."""
        self.words = [str(BIN / name), *map(str, arguments)]
        self.returncode: int | None = None
        request = {
            "words": self.words,
            "folder": str(folder or Path.cwd()),
            "environment": {**os.environ, **(environment or {})},
            "network": network,
            "changed": changed,
        }
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 # read until this object is gone
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self._answers, answer = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with answer:
            files = [self._out.fileno(), self._err.fileno(), answer.fileno()]
            server = _servers()["PYTHONPATH" not in (environment or {})]
            socket.send_fds(server, [json.dumps(request).encode()], files)
        self.pid = int(self._answers.recv(64))

    @property
    def printed(self) -> str:
        """Return what it has written to stdout, and then what to stderr."""
        return self._content(self._out.fileno()) + self._content(self._err.fileno())

    def poll(self) -> int | None:
        """Return the exit code; None while the command runs."""
        return self.wait(0)

    def wait(self, timeout_s: float = 600) -> int | None:
        """Return the exit code; None if the command still runs after `timeout_s`."""
        if self.returncode is None and select.select([self._answers], [], [], timeout_s)[0]:
            self.returncode = int(self._answers.recv(64))
            self._answers.close()
        return self.returncode

    def send_signal(self, sent: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, sent)

    def result(self, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
        """Wait for the end; return the exit code and what was printed."""
        code = self.wait(timeout_s)
        if code is None:
            self.send_signal(signal.SIGKILL)
            raise subprocess.TimeoutExpired(self.words, timeout_s, self.printed)
        streams = (self._content(file.fileno()) for file in (self._out, self._err))
        return subprocess.CompletedProcess(self.words, code, *streams)

    @staticmethod
    def _content(file: int) -> str:
        return os.pread(file, os.fstat(file).st_size, 0).decode()


def programs_in(folder: Path) -> tuple[dict[str, str], int]:
    """Put `ccu` and `ddu` into a folder, which do not start, but ask to be forked, where they are
    called. Returns variables for the shell that calls them, and a descriptor that it inherits."""
    folder.mkdir()
    descriptor = _servers()[True].fileno()
    for name in ("ccu", "ddu"):
        program = folder / name
        program.write_text(
            _PROGRAM.format(python=sys.executable, descriptor=_DESCRIPTOR, program=BIN / name)
        )
        program.chmod(0o755)
    path = f"{folder}:{BIN}:{os.environ['PATH']}"
    return {"PATH": path, _DESCRIPTOR: str(descriptor)}, descriptor


@cache
def _servers() -> dict[bool, socket.socket]:
    """Start the processes that fork, by whether all packages are known; they end with this one."""
    pairs = {known: socket.socketpair(type=socket.SOCK_SEQPACKET) for known in (False, True)}
    theirs = [other.fileno() for _, other in pairs.values()]
    process = subprocess.Popen(
        [sys.executable, "-m", "testsupport.prepared", *map(str, theirs)],
        pass_fds=theirs,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    for _, other in pairs.values():
        other.close()

    def end() -> None:
        for ours, _ in pairs.values():
            ours.close()
        process.wait()  # so that its processor time is known to who measures ours

    atexit.register(end)
    return {known: ours for known, (ours, _) in pairs.items()}


def _serve(requests: socket.socket, other: int | None) -> list[str]:
    """Fork a process for each request; return in it, with its words. In the end, wait for the
    process `other`."""
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
                    if other:
                        os.waitpid(other, 0)
                    sys.exit()
                answer = socket.socket(fileno=files.pop())
                pid = os.fork()
                if pid == 0:
                    answer.close()
                    for ended, (_, waiting) in running.items():
                        os.close(ended)
                        waiting.close()
                    return _become(json.loads(request), files)
                for file in files:
                    os.close(file)
                answer.send(str(pid).encode())
                ended = os.pidfd_open(pid)
                running[ended] = (pid, answer)
                selector.register(ended, selectors.EVENT_READ)


def _answer(ended: int, pid: int, answer: socket.socket) -> None:
    """Send the exit code of a process that has ended, if somebody still waits for it."""
    os.close(ended)
    with answer:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            answer.send(str(code).encode())


def _become(request: dict[str, Any], files: list[int]) -> list[str]:
    """Make this process what was asked for; return its words."""
    for file, standard in zip(files, (1, 2), strict=True):
        os.dup2(file, standard)
        os.close(file)
    if request["network"]:
        from pyroute2 import netns  # costs more than all else that importers of this module import

        netns.setns(request["network"], flags=0, fork=False)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    from testsupport.forking import fork_children

    fork_children()
    exec(request["changed"], {})
    return list(request["words"])


def _end(code: int) -> NoReturn:
    """End as Python does, but without taking apart all that was imported, which costs 0.1 s."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _prepare(base: socket.socket, with_packages: socket.socket) -> tuple[socket.socket, int | None]:
    """Import what commands import, and what they load by the entry points of ccu. Return in two
    processes, of which that with all packages is forked from the other: the requests to serve, and
    the process that was forked."""
    loaded = (one.module for one in distribution("ccu").entry_points if one.group != "pytest11")
    for module in (*_IMPORTED, *loaded):
        importlib.import_module(module)
    assert not extensions.cache_info().currsize, "a module reads entry points when it is imported"
    _build_models(BaseModel)
    # Compiles the patterns by which rich distinguishes numbers, paths and so on.
    Console(file=StringIO()).print("a word")
    sys.modules["ddu.api"].prepare()  # It compresses the script that every report has.
    contain.losses()  # A fact of the machine, which an interpreter of its own finds out.
    pid = os.fork()
    if pid:
        with_packages.close()
        return base, pid
    base.close()
    for module in _OF_ALL_PACKAGES:
        importlib.import_module(module)
    _know_software()
    _build_command(sys.modules["ccu.cli.run"].app)
    _build_models(BaseModel)
    return with_packages, None


def _know_software() -> None:
    """Ask each program for its version, and git for the revision, once: every run records them."""
    manifest: Any = sys.modules["ccu.runs.manifest"]
    programs: Any = sys.modules["ccu.host.programs"]
    version = programs.version
    of_file = cache(lambda _, name: version(name))
    programs.version = lambda name: of_file(programs.find(name), name)
    manifest._revision = cache(manifest._revision)
    manifest.software()


def _build_command(app: typer.Typer) -> None:
    """Build what typer makes of the most frequent command, and readers of its parameters."""
    typer.main.get_command = cache(typer.main.get_command)
    command = typer.main.get_command(app)
    for parameter in command.params:
        parameter.get_runtime_param()


def _build_models(of: type[BaseModel]) -> None:
    """Build the models that pydantic would build when they are first used."""
    for model in of.__subclasses__():
        model.model_rebuild(raise_errors=False)
        _build_models(model)


if __name__ == "__main__":
    gc.disable()  # What is imported stays: to look for garbage in it takes a tenth of the time.
    served = _prepare(*(socket.socket(fileno=int(one)) for one in sys.argv[1:]))
    gc.freeze()
    gc.enable()
    sys.argv = _serve(*served)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ending:
        if isinstance(ending.code, int | None):
            _end(ending.code or 0)
        raise
