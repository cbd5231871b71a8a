# SPDX-License-Identifier: Apache-2.0
"""The store and Grafana in containers of containers/store.yml."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ddu.console.ownership import make_directory
from ddu.errors import StoreError, StoreRefused
from ddu.installation import CHECKOUT, data
from ddu.store.directory import Address, StoreDirectory

COMPOSE_FILE = data("ddu", "containers/store.yml")
PROJECT = "5g-testbed"
"""The project's name in docker-compose.yml: both start and stop the same containers."""
SERVICES = ("store", "grafana", "files")
_DOCKER_COMPOSE = ("docker", "compose", "-p", PROJECT, "-f", str(COMPOSE_FILE))


def start(place: StoreDirectory, address: Address, grafana_port: int) -> None:
    """Brings the services up. Raises StoreError in Docker's words when that fails."""
    _make_runs_folder()
    _compose(place, address, grafana_port, "up", "--detach", *SERVICES)


def _make_runs_folder() -> None:
    """Make the folder that `files` serves, for this user: Docker would make it for root."""
    if not _runs().exists():
        make_directory(_runs())


def _runs() -> Path:
    return Path(os.environ.get("DDU_RUNS") or (CHECKOUT or Path.cwd()) / "runs").absolute()


def stop(place: StoreDirectory, address: Address) -> None:
    """Stop the containers; the data stay in their volumes."""
    _compose(place, address, 0, "stop", *SERVICES)


def running(place: StoreDirectory, address: Address) -> bool:
    listed = _compose(place, address, 0, "ps", "--quiet", "store")
    return bool(listed.strip())


def inside(*command: str) -> list[str]:
    """Return the command that runs `command` in the store's container, which asks for the owner's
    password on its socket, too."""
    with_password = ["sh", "-c", 'PGPASSWORD=$(cat /run/secrets/owner) exec "$@"', "sh"]
    return [*_DOCKER_COMPOSE, "exec", "-T", "store", *with_password, *command]


def environment(place: StoreDirectory, address: Address, grafana_port: int = 0) -> dict[str, str]:
    """Return the environment that the compose file needs: secrets and addresses."""
    wanted = {
        "DDU_STORE_DIR": str(place.directory),
        "DDU_STORE_BIND": address.host,
        "DDU_STORE_PORT": str(address.port),
        "DDU_RUNS": str(_runs()),
    }
    return {**_client(), **wanted} | (
        {"DDU_GRAFANA_PORT": str(grafana_port)} if grafana_port else {}
    )


def _client() -> dict[str, str]:
    """Environment in which `docker compose` is there: the user's, else with the plugin that
    setup/docker-compose made. Raises StoreError when neither has it."""
    built = {"DOCKER_CONFIG": str(CHECKOUT / ".tools" / "docker")} if CHECKOUT else {}
    for environment in (dict(os.environ), {**os.environ, **built}):
        command = ["docker", "compose", "version"]
        if (
            shutil.which("docker")
            and not subprocess.run(
                command, capture_output=True, env=environment, check=False
            ).returncode
        ):
            return environment
    raise StoreRefused(
        "not found",
        "install docker-compose-plugin, docker-compose-v2 or docker-compose, or leave --docker "
        "out: the store then runs on the distribution's PostgreSQL",
        key="docker compose",
    )


def _compose(place: StoreDirectory, address: Address, grafana_port: int, *arguments: str) -> str:
    profiles = ["--profile", "store", "--profile", "grafana"]
    ran = subprocess.run(
        [*_DOCKER_COMPOSE, *profiles, *arguments],
        capture_output=True, text=True, check=False,
        env=environment(place, address, grafana_port),
    )  # fmt: skip
    if ran.returncode != 0:
        lines = [line for line in ran.stderr.strip().splitlines() if line.strip()]
        raise StoreError(lines[-1] if lines else "failed", key="docker compose")
    return ran.stdout
