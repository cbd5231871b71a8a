# SPDX-License-Identifier: Apache-2.0
"""The fixtures of OpenAirInterface's tests: the stand-ins' root file system and their daemon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ccu.testbeds.oai import docker
from ddu.console.problems import RefusedError
from testsupport.oai.containers import Daemon, make_root_file_system, need


@pytest.fixture(scope="session")
def root_file_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one that the environment names: a network namespace of its own cannot make one."""
    if made := os.environ.get("CCU_TEST_ROOT_FILE_SYSTEM"):
        return Path(made)
    return make_root_file_system(tmp_path_factory.mktemp("rootfs") / "rootfs.tar")


@pytest.fixture(scope="session")
def daemon(root_file_system: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    need("docker", "dockerd")
    try:
        docker.command()
    except RefusedError as missing:
        pytest.skip(str(missing))
    made = Daemon(tmp_path_factory.mktemp("docker"))
    try:
        made.build(root_file_system)
        yield made
    finally:
        made.stop()
