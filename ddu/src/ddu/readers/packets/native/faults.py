# SPDX-License-Identifier: Apache-2.0
"""The native reader's errors as ddu's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ddu import _packets
from ddu.errors import UnreadableInput


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Turn the native reader's errors into UnreadableInput, which names the file."""
    try:
        yield
    except OSError as error:
        raise UnreadableInput(path, error.strerror or str(error)) from None
    except _packets.CaptureError as error:
        raise UnreadableInput(path, str(error)) from None
