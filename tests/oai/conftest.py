# SPDX-License-Identifier: Apache-2.0
"""The fixtures of OpenAirInterface's tests: the stand-ins' root file system and their daemon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ccu.testbeds.oai import docker, oci_images
from ddu.console.problems import RefusedError
from testsupport.oai.containers import (
    CORE_VERSION,
    Daemon,
    make_root_file_system,
    need,
    one_layout_for_all,
)


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


@pytest.fixture(scope="session")
def lxc_images(
    daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The variables by which ccu finds the stand-ins' images for LXC."""
    need("lxc-start", "skopeo", "umoci", "jq")
    layouts = one_layout_for_all(daemon, tmp_path_factory.mktemp("oci"))
    yield {"OAI_OCI": str(layouts), "OAI_CORE_VERSION": CORE_VERSION}
    for base in oci_images.FOLDER.glob("ccu-base-*"):
        subprocess.run(["lxc-destroy", "-P", oci_images.FOLDER, "-f", "-n", base.name])
