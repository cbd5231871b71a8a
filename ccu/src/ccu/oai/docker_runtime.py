# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's containers by Docker Compose."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from python_on_whales import DockerClient
from python_on_whales.exceptions import DockerException, NoSuchContainer

from ccu.errors import Refused, RunFailed
from ccu.oai import docker
from ccu.oai.configs import CONTAINERS

LABEL = "ccu.run"
_STOP_S = 5


class DockerRuntime:
    """See `ccu.oai.runtime.Runtime`. `project` names everything that is made."""

    def __init__(
        self, project: str, files: Sequence[Path], profile: str, variables: Mapping[str, str]
    ) -> None:
        self._project = project
        # Compose reads its variables from the environment, which python-on-whales cannot be given:
        # it makes the command lines and reads the answers, and we run what takes variables.
        self._variables = dict(variables)
        self._client = DockerClient(
            config=docker.config_folder(),
            compose_files=[str(file) for file in files],
            compose_profiles=[profile],
            compose_project_name=project,
            compose_project_directory=str(CONTAINERS),
        )
        self._pids: dict[str, int] = {}

    def check(self) -> None:
        command = docker.command()
        said = subprocess.run([*command, "version"], capture_output=True, text=True)
        if said.returncode != 0:
            lines = said.stderr.strip().splitlines() or ["no answer"]
            raise Refused(f"docker: {lines[-1]}; start it: sudo systemctl start docker")
        missing = [image for image in self._images() if not self._client.image.exists(image)]
        if missing:
            raise Refused(
                "\n".join(f"{image}: not here; {_how_to_get(image)}" for image in missing)
            )

    def _images(self) -> list[str]:
        return sorted(set(self._compose("config", "--images").split()))

    def start(self, services: Sequence[str]) -> None:
        self._compose("up", "--detach", "--no-deps", "--pull", "never", "--no-build", *services)
        self._forget(services)

    def restart(self, service: str) -> None:
        self._compose("restart", "--no-deps", "--timeout", str(_STOP_S), service)
        self._forget([service])

    def stop(self, services: Sequence[str]) -> None:
        self._compose("stop", "--timeout", str(_STOP_S), *services)
        self._forget(services)

    def remove(self) -> None:
        self._compose("down", "--volumes", "--remove-orphans", "--timeout", str(_STOP_S))

    def _compose(self, *arguments: str) -> str:
        command = [str(word) for word in self._client.compose.docker_compose_cmd]
        said = subprocess.run(
            [*command, "--progress", "quiet", *arguments],
            capture_output=True,
            text=True,
            env=os.environ | self._variables,
            start_new_session=True,
        )
        if said.returncode != 0:
            lines = (said.stderr or said.stdout).strip().splitlines()
            raise RunFailed("containers", _explain("\n  ".join(lines[-4:]) or "compose failed"))
        return said.stdout

    def _forget(self, services: Sequence[str]) -> None:
        for service in services:
            self._pids.pop(service, None)

    def pid(self, service: str) -> int | None:
        """Asked of Docker once, then of /proc: readiness is polled often."""
        known = self._pids.get(service)
        if known is None:
            try:
                state = self._client.container.inspect(self._name(service)).state
            except NoSuchContainer:
                return None
            except DockerException as error:
                raise RunFailed("containers", f"docker inspect {service}: {error}") from None
            if not state.running or not state.pid:
                return None
            known = self._pids[service] = int(state.pid)
        return known if Path(f"/proc/{known}/ns/net").exists() else None

    def log_command(self, service: str) -> list[str]:
        # A container's stderr comes apart from its stdout; in time they belong together.
        words = [*docker.command(), "logs", "--follow", "--timestamps", self._name(service)]
        return ["sh", "-c", 'exec "$@" 2>&1', "sh", *words]

    def shell_command(self, service: str) -> list[str]:
        shell = "command -v bash >/dev/null && exec bash || exec sh"
        return [*docker.command(), "exec", "-it", self._name(service), "sh", "-c", shell]

    def _name(self, service: str) -> str:
        return f"{self._project}-{service}-1"


def _how_to_get(image: str) -> str:
    if image.startswith("ccu-traffic"):
        return "build it: docker compose --profile rfsim build data-network"
    return f"docker pull {image}"


def _explain(said: str) -> str:
    if "Pool overlaps" in said:
        mend = "`ccu clean`, `ccu testbed down`, or see docker network ls"
        return f"{said}\n  another network has these addresses: {mend}"
    if "Address already in use" in said or "port is already allocated" in said:
        return f"{said}\n  another container has the address: `ccu clean`, or docker ps"
    return said


def remove_project(project: str) -> list[str]:
    """Removes what Docker still has of `project`, by its labels; sentences that say what."""
    try:
        command = docker.command()
    except Refused:
        return []
    done = []
    label = f"label=com.docker.compose.project={project}"
    for kind, listing, removal in (
        ("container", ["ps", "-aq"], ["rm", "-f", "-v"]),
        ("network", ["network", "ls", "-q"], ["network", "rm"]),
    ):
        said = subprocess.run(
            [*command, *listing, "--filter", label], capture_output=True, text=True
        )
        if found := said.stdout.split():
            subprocess.run([*command, *removal, *found], capture_output=True, text=True)
            done.append(f"removed {len(found)} {kind}{'s' * (len(found) > 1)} of {project}")
    return done
