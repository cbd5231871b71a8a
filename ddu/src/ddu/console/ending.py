# SPDX-License-Identifier: Apache-2.0
"""The end of a command: a message on stderr and an exit code (docs/errors.md)."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

import typer

from ddu.console.colours import uncoloured, visible
from ddu.console.machine_errors import FIXES
from ddu.console.problems import CommandError, Problem, Where

_INTERRUPTED = 130  # 128 + SIGINT, as shells say it


def error_text(program: str, message: str) -> str:
    """Return `program: error: message`, with further lines of the message indented.

    What programs have printed is without its colours, and other control characters are visible.
    """
    first, *more = map(visible, uncoloured(message).splitlines() or [""])
    return "\n".join([f"{program}: error: {first}", *(f"  {line}" for line in more)])


def main(app: typer.Typer, program: str) -> NoReturn:
    """Run the command line and end the process: errors are one message on stderr and a code."""

    def fail(message: str, code: int) -> NoReturn:
        print(error_text(program, message), file=sys.stderr)
        sys.exit(code)

    # No matrix here is large, and the threads that numpy starts for large ones spin at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # of the imports before
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = app(prog_name=program, standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except SystemExit as end:
        # typer and rich raise SystemExit when their output is no longer read.
        if isinstance(end.__context__, BrokenPipeError):
            _end_unread()
        raise
    except BrokenPipeError:
        _end_unread()
    except CommandError as error:
        fail(str(error), error.exit_code)
    except OSError as error:
        fix = FIXES.get(error.errno)
        if error.filename is None and fix is None:
            raise
        rule = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
        fail(str(Problem(rule, fix or "", Where(error.filename))), 1)
    except MemoryError:
        fail("the machine has no memory left. Free some, then repeat the command", 1)
    except KeyboardInterrupt:
        fail("interrupted", _INTERRUPTED)
    except typer.Abort:
        fail("Aborted; nothing changed.", 1)
    except typer.TyperException as error:
        if error.format_message():  # Empty: no argument was given, and the help was printed.
            fail(_usage_message(error), error.exit_code)
        sys.exit(error.exit_code)


def _usage_message(error: typer.TyperException) -> str:
    """Return what is wrong with the command line, and where its rules are."""
    context = getattr(error, "ctx", None)
    see = f"\nsee: {context.command_path} --help" if context else ""
    # pydantic checks choices, and puts its kind of error before what is wrong.
    return f"{error.format_message().replace('Value error, ', '')}{see}"


def _end_unread() -> NoReturn:
    """End by SIGPIPE without a message, as usual when the reader has ended (`… | head`)."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    raise AssertionError("SIGPIPE ends a process")
