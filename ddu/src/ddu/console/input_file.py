# SPDX-License-Identifier: Apache-2.0
"""The reading of files that users name: regular ones only, and no more bytes than are of use.

A named pipe would hang its reader, and a device such as /dev/zero never ends.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from ddu.console.problems import refusal

MOST_BYTES_OF_TEXT = 16 << 20
"""The most that a file has which a person writes."""
MOST_BYTES_OF_JSON = 1 << 30
"""The most that a file has which a program writes."""
READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""The flags of open(2) that wait for no writer of a pipe."""
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def need_regular(file: Path, *, links: bool = True) -> os.stat_result:
    """Return the state of a regular file; without `links` no link is followed. Raises OSError,
    whose `strerror` is the rule that something else breaks."""
    state = file.stat() if links else file.lstat()
    _need_regular(file, state)
    return state


def opened(file: Path, *, links: bool = True) -> BinaryIO:
    """Return the opened file. Raises as `need_regular`, also where the file changes meanwhile."""
    need_regular(file, links=links)
    return regular(os.open(file, READING if links else READING | os.O_NOFOLLOW), file)


def regular(descriptor: int, file: Path) -> BinaryIO:
    """Return the file that was opened with READING; one that is not regular is closed. Raises as
    `need_regular`."""
    stream = os.fdopen(descriptor, "rb")
    try:
        _need_regular(file, os.fstat(descriptor))
    except BaseException:
        stream.close()
        raise
    return stream


def read_bytes(file: Path, most: int = MOST_BYTES_OF_TEXT) -> bytes:
    """Return the content, of at most `most` bytes. Raises OSError as `opened`."""
    with opened(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > most:
            raise OSError(
                errno.EFBIG, f"has {size} bytes, more than the {most} that are read", file
            )
        return stream.read(size)


def read_text(file: Path, most: int = MOST_BYTES_OF_TEXT) -> str:
    """Return the text. Raises UnicodeDecodeError, and as `read_bytes`."""
    return read_bytes(file, most).decode("utf-8")


def read_json(file: Path, most: int = MOST_BYTES_OF_JSON) -> Any:
    """Return the content. Raises ValueError if it is not JSON, and as `read_bytes`."""
    return parsed_json(read_bytes(file, most))


def parsed_json(text: str | bytes) -> Any:
    """Return the content. Raises ValueError if it is not JSON, or nested too deep to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def path_in(name: str) -> Path | None:
    """Return the path of a YAML file, if that is written where a name could be."""
    return Path(name) if "/" in name or name.endswith((".yaml", ".yml")) else None


def why_none(file: Path) -> str:
    """Return why there is no file, as a rule that the path breaks."""
    return "is a directory" if file.is_dir() else "no such file"


def need_printable(name: str, file: Path) -> None:
    """Raise RefusedError for a name with line ends, other control characters, or broken UTF-8."""
    if not name.isprintable():
        raise refusal(f"{name!r}: the name has control characters", "rename it", file=file.parent)


def _need_regular(file: Path, state: os.stat_result) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    if not stat.S_ISREG(state.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(state.st_mode)), "no file")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", file)
