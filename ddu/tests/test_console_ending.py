# SPDX-License-Identifier: Apache-2.0
"""The end of commands: messages, exit codes, and no message after a closed pipe."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

from ddu.console.ending import error_text
from testsupport.prepared import command

ROOT = Path(__file__).parents[2]


def test_further_lines_of_a_message_are_indented() -> None:
    message = "one. Fix it\n  two\nthree"
    assert error_text("ccu", message) == "ccu: error: one. Fix it\n    two\n  three"


def test_a_terminal_obeys_nothing_in_a_message() -> None:
    """A sender program's last lines are in the message; they may be anything."""
    message = "failed: \x1b[31mred\x1b[0m \x1b]0;title\x07\b\x9b2J \u202e naïve\tend"
    assert error_text("ccu", message) == (
        r"ccu: error: failed: red \x1b]0;title\x07\x08\x9b2J \u202e" + " naïve\tend"
    )


@pytest.mark.parametrize(
    ("args", "first"),
    [
        (("ccu", "list", "sceanrios"), "no list 'sceanrios'. Did you mean scenarios?"),
        (("ccu", "run", "--ccc", "cubic"), "No such option: --ccc"),
        (("ccu", "run", "--cc", "cubic", "--loss", "1.5", "--dry-run"), "--loss: '1.5' is not"),
        (("ddu", "export", "/nowhere"), "/nowhere: not a run directory"),
        (("ddu", "anlyze"), "No such command 'anlyze'. Did you mean 'analyze'?"),
        (("ddu", "schema", "alinged"), "no table 'alinged'. Did you mean aligned?"),
    ],
)
def test_wrong_input_is_one_message_and_code_2(args: tuple[str, ...], first: str) -> None:
    run = command(*args, folder=ROOT)
    program = args[0]
    assert run.returncode == 2
    assert run.stdout == ""
    head, *more = run.stderr.splitlines()
    assert head.startswith(f"{program}: error: {first}")
    assert all(line.startswith("  ") for line in more)


@pytest.mark.parametrize("args", [("ccu", "scenario", "formats"), ("ddu", "schema")])
def test_a_closed_pipe_is_not_an_error(args: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", *args], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == -signal.SIGPIPE


def test_without_arguments_the_help_is_printed() -> None:
    run = command("ccu", "scenario", folder=ROOT)
    assert (run.returncode, run.stderr) == (2, "")
    assert "Usage: ccu scenario" in run.stdout


def test_a_full_disk_is_one_message() -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "ddu", "schema"]
        run = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("ddu: error: the disk is full. Free some space")


@pytest.mark.parametrize("program", ["ccu", "ddu"])
def test_ctrl_c_before_the_imports_ends_without_a_traceback(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's modules take most of the first second to import."""
    handlers = []
    slow = types.ModuleType(f"{program}.cli.main")
    slow.main = lambda: handlers.append(signal.getsignal(signal.SIGINT))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, slow.__name__, slow)
    before = signal.getsignal(signal.SIGINT)
    try:
        importlib.import_module(f"{program}.__main__").main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [signal.SIG_DFL]


@pytest.mark.parametrize("program", ["ccu", "ddu"])
def test_nothing_is_imported_before_ctrl_c_is_heard(program: str) -> None:
    """Each module is some milliseconds in which Ctrl-C prints where Python is."""
    begin = f"{program}.__main__"
    loaded = f"sys.path.insert(0, sys.argv[1]); before = {{*sys.modules}}; import {begin}"
    words = ["-I", "-S", "-c", f"import sys; {loaded}; print(*{{*sys.modules}} - before)"]
    source = Path(importlib.import_module(program).__path__[0]).parent
    run = subprocess.run([sys.executable, *words, source], capture_output=True, text=True)
    assert {*run.stdout.split()} - {"__future__"} == {program, begin}
