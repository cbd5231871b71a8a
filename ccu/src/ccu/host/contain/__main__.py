# SPDX-License-Identifier: Apache-2.0
"""`python -m ccu.host.contain RIGHTS COMMAND…`: runs a command of the user's, contained.

Three processes: this one stays outside, passes signals on, ends as the command does, and then gives
what the command could write back to its owner. The second is the first of the new namespace of
processes, with which all others in it end. The third is the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

from ccu.host.contain import linux, user, view
from ccu.host.contain.filter import Filter
from ccu.host.contain.rights import FEATURES, Rights
from ccu.host.contain.user import User

_PASSED_ON = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCONT}
_CANNOT = 126  # as shells say it
_ENVIRONMENT = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH"}
_ENVIRONMENT_OF_OURS = ("CCU_", "NR_LINK_")
_PATIENCE_S = 2
"""The time for a program to end by SIGTERM. Who sent it waits longer (3 s, supervisor.py): what the
program was given is then taken back."""


def main(rights: str = "", *command: str) -> None:
    """Run the command and end as it does; without one, print as JSON what this machine lacks."""
    if not command:
        print(json.dumps(_losses()))
        return
    wanted = Rights.from_json(rights)
    as_user = user.chosen(but_root="nobody" in wanted.features)
    owners = _hand_over(wanted, as_user)
    try:
        status = _contained(wanted, as_user, lambda: _execute(command))
    finally:
        _give_back(owners, wanted)
    if os.WIFSIGNALED(status):
        _end_by(signal.Signals(os.WTERMSIG(status)))
    sys.exit(os.waitstatus_to_exitcode(status))


def _losses() -> dict[str, str]:
    """Return why each feature that is not possible here is not, by trying."""
    kept, lost = list[str](), dict[str, str]()
    if not _failure(Rights()):
        return lost
    for feature in FEATURES:
        if reason := _failure(Rights(features=(*kept, feature))):
            lost[feature] = reason
        else:
            kept.append(feature)
    return lost


def _failure(wanted: Rights) -> str:
    """Return why a process cannot be contained so; empty: it can."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(writer, sys.stderr.fileno())
        status = _contained(wanted, user.chosen(), lambda: os._exit(0))
        os._exit(os.waitstatus_to_exitcode(status))
    os.close(writer)
    with os.fdopen(reader) as printed:
        reason = printed.read().strip()
    _, status = os.waitpid(child, 0)
    return reason or "no reason given" if status else ""


def _contained(wanted: Rights, as_user: User, act: Callable[[], None]) -> int:
    """Call `act` in a contained process that it does not return to; return its wait status."""
    has = wanted.features.__contains__
    reader, writer = os.pipe()
    with _exits_with_a_sentence():
        if os.geteuid() and has("user"):
            _new_user_namespace(as_user)
        if has("processes"):
            linux.unshare(linux.NEW_PID)

    def command() -> None:
        if has("filter"):
            Filter(wanted.socket_families, traces_children=wanted.traces_children).load()
        act()

    def first() -> None:
        os.close(reader)
        linux.end_with_parent(signal.SIGKILL)
        if has("ipc"):
            linux.unshare(linux.NEW_IPC)
        if has("network") and not wanted.keeps_network:
            linux.unshare(linux.NEW_NETWORK)
        folder = Path.cwd()
        if has("mounts"):
            paths = (map(Path, wanted.reads), map(Path, wanted.writes), _unchanged(wanted))
            view.enter(as_user, *paths, new_proc=has("processes"))
        if wanted.goes_first:
            with contextlib.suppress(OSError):
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        as_user.become()
        linux.end_with_parent(signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.chdir("/")
            os.chdir(folder)
        os.write(writer, str(_supervised(command)).encode())
        os._exit(0)

    status = _supervised(first)
    os.close(writer)
    with os.fdopen(reader) as said:
        return int(said.read() or status)


def _new_user_namespace(as_user: User) -> None:
    linux.unshare(linux.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{as_user.uid} {as_user.uid} 1")
    Path("/proc/self/gid_map").write_text(f"{as_user.gid} {as_user.gid} 1")


def _supervised(act: Callable[[], None]) -> int:
    """Call `act` in a child; pass signals on to it, and return its wait status.

    Standard input and output are then the child's alone: their ends show.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    child = os.fork()
    if child == 0:
        for one in _PASSED_ON:
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
        with _exits_with_a_sentence():
            act()
        os._exit(0)
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)

    def send(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            signal.alarm(_PATIENCE_S)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if number == signal.SIGALRM else number)

    for one in (*_PASSED_ON, signal.SIGALRM):
        signal.signal(one, send)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            return status


def _execute(command: tuple[str, ...]) -> None:
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    environment = {
        key: value
        for key, value in os.environ.items()
        if key in _ENVIRONMENT or key.startswith(_ENVIRONMENT_OF_OURS)
    }
    own = {"HOME": str(view.SCRATCH), "TMPDIR": str(view.SCRATCH)}
    os.execvpe(command[0], command, environment | own)


@contextlib.contextmanager
def _exits_with_a_sentence() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"{error.strerror or error}{where}", file=sys.stderr, flush=True)
        os._exit(_CANNOT)


def _unchanged(wanted: Rights) -> set[Path]:
    return set(map(Path, wanted.unchanged))


def _hand_over(wanted: Rights, as_user: User) -> dict[Path, tuple[int, int]]:
    """Make the files that are missing, and give all to the user; return who had them."""
    owners = {}
    for path in map(Path, wanted.writes):
        if not path.exists():
            path.touch()
        if os.geteuid() == 0:
            state = path.stat()
            owners[path] = (state.st_uid, state.st_gid)
            _give(path, as_user.uid, as_user.gid, _unchanged(wanted))
    return owners


def _give_back(owners: Mapping[Path, tuple[int, int]], wanted: Rights) -> None:
    for path, (uid, gid) in owners.items():
        _remove_links(path, _unchanged(wanted))
        _give(path, uid, gid, _unchanged(wanted))


def _remove_links(path: Path, but: Collection[Path]) -> None:
    """Remove from a folder what is neither a file nor a folder: a link would lead its owner, who
    is root, to what the program could not read, and a pipe would make a reader wait."""
    for name, folder in _below(path, but):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            os.unlink(name, dir_fd=folder)


def _give(path: Path, uid: int, gid: int, but: Collection[Path] = ()) -> None:
    """Change the owner of a file, a socket, or a folder and what is in it, `but` for these
    paths."""
    os.chown(path, uid, gid, follow_symlinks=False)
    for name, folder in _below(path, but):
        os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)


def _below(path: Path, but: Collection[Path]) -> Iterator[tuple[str, int]]:
    """Yield each name in a folder and below it, `but` for these paths and what is in them, with
    the descriptor of the folder that it is in.

    So no link is followed, also none that takes a folder's place meanwhile.
    """
    if not stat.S_ISDIR(path.lstat().st_mode):
        return
    for here, folders, files, folder in os.fwalk(path):
        folders[:] = [name for name in folders if Path(here, name) not in but]
        for name in (*folders, *(one for one in files if Path(here, one) not in but)):
            yield name, folder


def _end_by(sent: signal.Signals) -> NoReturn:
    if sent != signal.SIGKILL:
        signal.signal(sent, signal.SIG_DFL)
    os.kill(os.getpid(), sent)
    sys.exit(128 + sent)


if __name__ == "__main__":
    main(*sys.argv[1:])
