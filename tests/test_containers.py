# SPDX-License-Identifier: Apache-2.0
"""The containers have no right that their service does not name, and images that cannot change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

CONTAINERS = Path(__file__).parent.parent / "containers"
SERVICES: dict[str, dict[str, Any]] = {
    name: service
    for file in ("oai.yml", "store.yml")
    for name, service in yaml.safe_load((CONTAINERS / file).read_text())["services"].items()
}
# Versions of OpenAirInterface are chosen by option, and Open5GS's digest is not known yet
# (setup/image-digests prints it where the registry is in reach).
BY_TAG = re.compile(r".*/oai-|gradiant/open5gs:|ccu-traffic:")
# Write logs, PID files and statistics where they are, which ccu copies from there.
WRITABLE = re.compile(r"nrf|amf|smf|upf|open5gs-.*|(gnb|ue1)(-.*)?")


def image(service: dict[str, Any]) -> str:
    """Return the image that is taken where no variable selects another."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", service["image"])


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_the_rights_that_it_names(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    assert bool(service.get("read_only")) is not bool(WRITABLE.fullmatch(name))


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_pinned_by_digest_where_it_is_known(name: str) -> None:
    pinned = re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image(SERVICES[name]))
    assert bool(pinned) is not bool(BY_TAG.match(image(SERVICES[name])))


def test_the_base_of_our_own_image_is_pinned() -> None:
    (base,) = re.findall("^FROM (.*)$", (CONTAINERS / "traffic/Dockerfile").read_text(), re.M)
    assert re.fullmatch(r"debian:[\w-]+@sha256:[0-9a-f]{64}", base)
