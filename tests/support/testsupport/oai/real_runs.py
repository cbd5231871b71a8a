# SPDX-License-Identifier: Apache-2.0
"""The runs of the tests with the real OpenAirInterface, and what may be left after them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CCU = Path(sys.executable).with_name("ccu")
PATIENCE_S = 900
RFSIM = ("--testbed", "rfsim", "--rtt", "0ms")


def ccu(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CCU, *words], capture_output=True, text=True, timeout=PATIENCE_S)


def arguments(version: str, core: str, *more: str) -> tuple[str, ...]:
    return ("--core", core, "--oai-version", version, *more)


def performed(output: Path, *words: str) -> Path:
    """Perform a run over rfsim that leaves nothing behind; return its directory."""
    ran = ccu("run", "--no-report", *RFSIM, "--output", str(output), *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = output.iterdir()
    assert left() == []
    return run


def started(output: Path, *words: str) -> subprocess.Popen[str]:
    """Start a run over 24 PRB of rfsim that is longer than any test."""
    common = (*RFSIM, "--cc", "cubic", "--prb", "24", "--duration", "300s", "--output", str(output))
    return subprocess.Popen(
        [CCU, "run", *common, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def left() -> list[str]:
    """Return our containers and networks."""
    listed = []
    for words in (["ps", "-aq"], ["network", "ls", "-q"]):
        filtered = ["docker", *words, "--filter", "label=ccu.run"]
        listed += subprocess.run(filtered, capture_output=True, text=True).stdout.split()
    return listed


def service_of(function: str, core: str) -> str:
    """Return the service of gNB, UE or a function of the core, such as `amf`."""
    radio = function == "gnb" or function.startswith("ue")
    return function if radio or core == "oai" else f"{core}-{function}"


def kill_container(service: str) -> None:
    """Kill the container of a service."""
    label = f"label=com.docker.compose.service={service}"
    listed = subprocess.run(["docker", "ps", "-q", "--filter", label], capture_output=True)
    subprocess.run(["docker", "kill", *listed.stdout.decode().split()], check=True)
