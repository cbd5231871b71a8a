# SPDX-License-Identifier: Apache-2.0
"""How a command ends: in words on stderr, and with an exit code (docs/errors.md)."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import typer

from ddu.errors import DduError

PROGRAM = "ddu"


def told(message: str) -> str:
    """`ddu: error: message`; further lines of it are indented, so that they are seen to be."""
    first, *more = message.splitlines() or [""]
    return "\n".join([f"{PROGRAM}: error: {first}", *(f"  {line}" for line in more)])


def main(app: typer.Typer) -> NoReturn:
    """Runs the command line, and ends the process as it deserves."""
    try:
        code = app(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except SystemExit as end:
        # typer and rich end so when nobody reads what they write.
        if isinstance(end.__context__, BrokenPipeError):
            _end_unread()
        raise
    except BrokenPipeError:
        _end_unread()
    except DduError as error:
        print(told(str(error)), file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        if error.filename is None:
            raise
        # A file or directory that nothing else has told about: the place, and what the kernel says.
        print(told(f"{error.filename}: {error.strerror}"), file=sys.stderr)
        sys.exit(1)
    except typer.Abort:
        print(told("nothing was answered; nothing was done"), file=sys.stderr)
        sys.exit(1)
    except typer.TyperException as error:
        if error.format_message():  # Empty: no argument was given, and the help was printed.
            print(_of_usage(error), file=sys.stderr)
        sys.exit(error.exit_code)


def _of_usage(error: typer.TyperException) -> str:
    """What is wrong with the command line, and where its rules are."""
    context = getattr(error, "ctx", None)
    see = f"\nsee: {context.command_path} --help" if context else ""
    return told(f"{error.format_message()}{see}")


def _end_unread() -> NoReturn:
    """Silently, as programs do whose reader has left (`… | head`): by SIGPIPE."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    raise AssertionError("SIGPIPE ends a process")
