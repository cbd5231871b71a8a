# SPDX-License-Identifier: Apache-2.0
"""The docker command and its Compose plugin: the user's, or that of setup/docker-compose."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from ddu.console.problems import refusal
from ddu.installation import CHECKOUT

_BUILT_CONFIG = CHECKOUT and CHECKOUT / ".tools" / "docker"
"""The folder in which setup/docker-compose puts the plugin."""
_OLDEST_COMPOSE = (2, 20)  # `include` in docker-compose.yml


@cache
def config_folder() -> Path | None:
    """Return the folder for `docker --config`; None if the user's own docker has Compose 2.

    Raises RefusedError without docker, or without a Compose that can read our files.
    """
    if shutil.which("docker") is None:
        raise refusal("docker: not found", "install it: sudo apt-get install docker.io")
    for folder in (None, _BUILT_CONFIG):
        if (version := _compose_version(folder)) and version >= _OLDEST_COMPOSE:
            return folder
    version = _compose_version(None)
    status = f"{version[0]}.{version[1]} is too old" if version else "not found"
    needed = ".".join(map(str, _OLDEST_COMPOSE))
    raise refusal(
        f"docker compose: {status}, {needed} or newer is needed",
        (
            "install docker-compose-plugin (Docker's archive), docker-compose-v2 (Ubuntu) or "
            "docker-compose (Debian 13)"
            + (f", or run {CHECKOUT}/setup/docker-compose" if CHECKOUT else "")
        ),
    )


def command() -> list[str]:
    """Return the beginning of every docker command line. Raises RefusedError."""
    folder = config_folder()
    return ["docker", *(["--config", str(folder)] if folder else [])]


def _compose_version(folder: Path | None) -> tuple[int, int] | None:
    words = ["docker", *(["--config", str(folder)] if folder else [])]
    completed = subprocess.run(
        [*words, "compose", "version", "--short"], capture_output=True, text=True
    )
    parts = completed.stdout.strip().lstrip("v").split(".")
    if (
        completed.returncode != 0
        or len(parts) < 2
        or not (parts[0].isdigit() and parts[1].isdigit())
    ):
        return None
    return int(parts[0]), int(parts[1])
