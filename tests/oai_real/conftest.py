# SPDX-License-Identifier: Apache-2.0
"""The images of the real OpenAirInterface, if the user's Docker has them."""

from __future__ import annotations

import os
import subprocess

import pytest

from ccu.testbeds.oai import docker, version
from ddu.console.problems import RefusedError
from testsupport.oai.containers import need

CORE = ("oai-nrf", "oai-amf", "oai-smf", "oai-upf")
RAN = ("oai-gnb", "oai-nr-ue")


def missing(images: list[str]) -> list[str]:
    """Return those of the images that the user's Docker does not have."""
    inspect = [*docker.command(), "image", "inspect"]
    asked = {one: subprocess.run([*inspect, one], capture_output=True) for one in images}
    return [one for one, answer in asked.items() if answer.returncode != 0]


@pytest.fixture(scope="session")
def oai_version() -> str:
    """Return the tag of the images of gNB and UE; skip without them."""
    need("docker")
    registry = os.environ.get("OAI_REGISTRY", "oaisoftwarealliance")
    tag = os.environ.get("OAI_VERSION", version.DEFAULT)
    try:
        absent = missing([f"{registry}/{name}:{tag}" for name in RAN])
    except RefusedError as error:
        pytest.skip(str(error))
    if absent:
        pytest.skip(f"the images of OpenAirInterface are not here: {', '.join(absent)}")
    return tag


@pytest.fixture(scope="session", params=["none", "oai", "open5gs"])
def core(request: pytest.FixtureRequest, oai_version: str) -> str:
    """Return each core with which the machine can run."""
    name = str(request.param)
    if name == "oai":
        registry = os.environ.get("OAI_REGISTRY", "oaisoftwarealliance")
        tag = os.environ.get("OAI_CORE_VERSION", "v2.1.10")
        if absent := missing([f"{registry}/{one}:{tag}" for one in CORE]):
            pytest.skip(f"the images of the core are not here: {', '.join(absent)}")
    if name == "open5gs":
        images = [
            os.environ.get("OPEN5GS_IMAGE", "gradiant/open5gs:2.7.6"),
            os.environ.get("OPEN5GS_MONGODB_IMAGE", "mongo:7.0"),
        ]
        if absent := missing(images):
            pytest.skip(f"the images of Open5GS are not here: {', '.join(absent)}")
    return name
