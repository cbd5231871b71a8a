# SPDX-License-Identifier: Apache-2.0
"""The fixtures of the phone's tests: the phone and its link to the server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from testsupport.phone.street import Street


@pytest.fixture
def street(tmp_path: Path) -> Iterator[Street]:
    yield from _made(tmp_path, 4)


@pytest.fixture
def street_of_ipv6(tmp_path: Path) -> Iterator[Street]:
    """Yield a phone of an operator without IPv4."""
    yield from _made(tmp_path, 6)


def _made(folder: Path, version: int) -> Iterator[Street]:
    for program in ("adb", "toybox"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}: setup/system-packages test")
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("needs root and /dev/net/tun: it makes network namespaces")
    made = Street(folder / "street", version=version)
    try:
        yield made
    finally:
        made.close()
