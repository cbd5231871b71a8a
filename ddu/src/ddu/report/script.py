# SPDX-License-Identifier: Apache-2.0
"""plotly.js as pages hold it: compressed once, and kept in the user's folder for caches."""

from __future__ import annotations

import gzip
import os
import struct
import tempfile
import zlib
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


@lru_cache
def compressed_plotly() -> bytes:
    """Return plotly.js, compressed by gzip to a third of its size."""
    script = _plotly().read_bytes()
    try:
        kept = _cache() / "plotly.min.js.gz"
        content = _of(script, kept)
    except (OSError, RuntimeError):  # No folder for caches, or none for us to read.
        return _compress(script)
    if content is None:
        content = _compress(script)
        with suppress(OSError):
            _keep(content, kept)
    return content


def _compress(script: bytes) -> bytes:
    # Level 4 takes half the time of the highest for 4 % more bytes.
    return gzip.compress(script, 4, mtime=0)


def _plotly() -> Path:
    package = find_spec("plotly")  # Not imported, which would take time.
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "package_data" / "plotly.min.js"


def _cache() -> Path:
    """Return our folder for files that can be made again (XDG Base Directory Specification)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ddu"


def _of(script: bytes, file: Path) -> bytes | None:
    """Return what `file` holds if it is `script`, compressed, up to its end."""
    if not file.is_file():
        return None
    content = file.read_bytes()
    # RFC 1952: the last bytes are the checksum and the length of what was compressed.
    ending = struct.pack("<2I", zlib.crc32(script), len(script))
    return content if content.endswith(ending) else None


def _keep(content: bytes, file: Path) -> None:
    """Write a file that other processes see whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(prefix=f"{file.name}-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as to:
            to.write(content)
        Path(part).chmod(0o644)  # Root may write it for a user.
        Path(part).replace(file)
    finally:
        Path(part).unlink(missing_ok=True)
