# SPDX-License-Identifier: Apache-2.0
"""Refusals before a container is started: each problem with its fix, and no others."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ccu.testbeds.oai import docker, preflight
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.docker_runtime import DockerRuntime
from ccu.testbeds.oai.services import FILE
from ccu.testbeds.oai.usrp import Usrp
from ddu.console.problems import RefusedError

B210 = Usrp("b210", "serial=A", "serial=B")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Put a `docker` of the test's own on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(docker, "_BUILT_CONFIG", tmp_path / "none")
    docker.config_folder.cache_clear()

    def make(script: str) -> None:
        file = tmp_path / "docker"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    yield make
    docker.config_folder.cache_clear()


def check() -> None:
    DockerRuntime("ccu-test", [FILE], "rfsim", {}).check()


def test_without_docker_its_package_is_named(programs: Callable[[str], None]) -> None:
    with pytest.raises(RefusedError, match=r"docker: not found. .*apt-get install docker\.io"):
        check()


def test_without_compose_its_packages_are_named(programs: Callable[[str], None]) -> None:
    programs("echo \"docker: 'compose' is not a docker command\" >&2; exit 1")
    with pytest.raises(RefusedError, match=r"docker compose: not found, 2\.20 or newer .*setup/"):
        check()


@pytest.mark.parametrize("version", ["2.17.3", "v1.29.2"])
def test_an_old_compose_is_reported(programs: Callable[[str], None], version: str) -> None:
    programs(f'case "$*" in *compose*) echo {version} ;; esac')
    release = ".".join(version.lstrip("v").split(".")[:2])
    with pytest.raises(
        RefusedError, match=rf"docker compose: {release} is too old, 2\.20 or newer"
    ):
        check()


def test_a_daemon_that_does_not_run_is_reported(programs: Callable[[str], None]) -> None:
    programs(
        'case "$*" in *compose*) echo 2.29.1 ;; '
        "*) echo Cannot connect to the Docker daemon. >&2; exit 1 ;; esac"
    )
    with pytest.raises(
        RefusedError, match=r"Cannot connect .* daemon. Start it: sudo systemctl start docker"
    ):
        check()


def test_every_missing_image_is_named_with_its_pull(
    programs: Callable[[str], None],
) -> None:
    programs(
        'case "$*" in *"compose version"*) echo 2.29.1 ;; *--images*) echo a/here:1 b/gone:2 ;; '
        "*gone*) exit 1 ;; esac"
    )
    with pytest.raises(RefusedError) as refused:
        check()
    assert str(refused.value) == "b/gone:2: not found. Type: docker pull b/gone:2"


def test_a_usrp_on_usb_is_found_by_its_ids(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "_USB", tmp_path)
    assert "no B210 on USB" in str(preflight.usrp_trouble(B210))
    device = tmp_path / "1-1"
    device.mkdir()
    (device / "idVendor").write_text("2500\n")
    (device / "idProduct").write_text("0020\n")
    assert preflight.usrp_trouble(B210) is None


def test_an_x310_needs_a_route(monkeypatch: pytest.MonkeyPatch) -> None:
    # Any refusal counts as an answer; the loopback carries jumbo frames.
    assert preflight.usrp_trouble(Usrp("x310", "addr=127.0.0.1", "addr=127.0.0.1")) is None
    problem = preflight.usrp_trouble(Usrp("x310", "addr=127.0.0.1", "addr=no-address"))
    assert "no-address: no route" in str(problem)
    monkeypatch.setattr(preflight, "_JUMBO_BYTES", 70_000)
    problem = preflight.usrp_trouble(Usrp("x310", "addr=127.0.0.1", "addr=127.0.0.1"))
    assert "lo to 127.0.0.1 has an MTU of 65536" in str(problem)
    assert "sudo ip link set lo mtu 9000" in str(problem)


def test_a_power_saving_governor_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preflight, "_CPU", tmp_path)
    for number, governor in enumerate(("performance", "powersave")):
        folder = tmp_path / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{governor}\n")
    assert "cpupower frequency-set -g performance" in str(preflight.governor_trouble())
    folder.joinpath("scaling_governor").write_text("performance\n")
    assert preflight.governor_trouble() is None


@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.1"])
def test_a_taken_port_of_the_gnb_is_reported(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with socket.create_server((address, 0)) as server:
        monkeypatch.setattr(preflight, "TELNET_PORT", server.getsockname()[1])
        problems = preflight.port_troubles()
        # A listener on another address of the host does not matter.
        taken = [one for one in problems if one.rule.startswith("tcp")]
        assert len(taken) == (address == "0.0.0.0")
        assert all("sudo ss -lnpt sport" in one.fix for one in taken)


def test_all_problems_of_a_host_are_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    monkeypatch.setattr(preflight, "_USB", tmp_path)
    monkeypatch.setattr(preflight, "governor_trouble", lambda: "CPU governor powersave")
    with pytest.raises(RefusedError, match=r"(?s)no B210 on USB.*CPU governor"):
        preflight.check_host(Plan("2026.w11", carrier(106), 1, B210))
