# SPDX-License-Identifier: Apache-2.0
"""The runtime that starts OpenAirInterface's containers by Docker Compose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ccu.host import programs
from ccu.host.processes import ending_text
from ccu.host.resources import Resource
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai import docker
from ccu.testbeds.oai.configs import CONTAINERS
from ddu.console.problems import Problem, RefusedError, refusal

_STOP_S = 5


class DockerRuntime:
    """The runtime Docker; `project` is part of the names of all its containers and networks."""

    def __init__(
        self, project: str, files: Sequence[Path], profile: str, variables: Mapping[str, str]
    ) -> None:
        self._project = project
        self._files = [str(file) for file in files]
        self._profile = profile
        self._variables = dict(variables)
        self._pids: dict[str, int] = {}

    def resources(self) -> list[Resource]:
        return [ComposeProject(self._project)]

    def check(self) -> None:
        command = docker.command()
        completed = subprocess.run([*command, "version"], capture_output=True, text=True)
        if completed.returncode != 0:
            lines = completed.stderr.strip().splitlines() or ["no answer"]
            raise refusal(
                f"docker: {lines[-1].rstrip('.')}", "start it: sudo systemctl start docker"
            )
        images = sorted(set(self._compose("config", "--images").split()))
        # All at once, and one by one only to find which is missing.
        missing = [] if _here(images) else [image for image in images if not _here([image])]
        if missing:
            raise RefusedError(
                Problem(f"{image}: not found", _how_to_get(image)) for image in missing
            )

    def start(self, services: Sequence[str]) -> None:
        self._compose("up", "--detach", "--no-deps", "--pull", "never", "--no-build", *services)
        self._forget(services)

    def restart(self, service: str) -> None:
        self._compose("restart", "--no-deps", "--timeout", str(_STOP_S), service)
        self._forget([service])

    def stop(self, services: Sequence[str]) -> None:
        self._compose("stop", "--timeout", str(_STOP_S), *services)
        self._forget(services)

    def _compose(self, *arguments: str) -> str:
        options = ["--project-name", self._project, "--profile", self._profile]
        options += ["--project-directory", str(CONTAINERS), "--progress", "quiet"]
        files = [word for file in self._files for word in ("--file", file)]
        completed = programs.shielded(
            [*docker.command(), "compose", *files, *options, *arguments],
            os.environ | self._variables,
        )
        if completed.returncode != 0:
            lines = (completed.stderr or completed.stdout).strip().splitlines()
            raise RunFailed("containers", _explain("\n  ".join(lines[-4:]) or "compose failed"))
        return completed.stdout

    def _forget(self, services: Sequence[str]) -> None:
        for service in services:
            self._pids.pop(service, None)

    def pid(self, service: str) -> int | None:
        """Return a service's pid, known from Docker once, then checked in /proc: it is polled
        often."""
        if service not in self._pids:
            self._ask_pids()
        known = self._pids.get(service)
        return known if known and Path(f"/proc/{known}/ns/net").exists() else None

    def _ask_pids(self) -> None:
        """Query the pids of all running containers of the project at once, as a query is slow."""
        label = f"label=com.docker.compose.project={self._project}"
        containers = _answer("ps", "--quiet", "--filter", label).split()
        if not containers:
            return
        form = '{{.State.Pid}} {{index .Config.Labels "com.docker.compose.service"}}'
        for line in _answer("inspect", "--format", form, *containers).splitlines():
            pid, _, service = line.partition(" ")
            if int(pid):
                self._pids[service] = int(pid)

    def log_command(self, service: str) -> list[str]:
        # stderr and stdout of a container are separate; the log has both in order of time.
        words = [*docker.command(), "logs", "--follow", "--timestamps", self._name(service)]
        return ["sh", "-c", 'exec "$@" 2>&1', "sh", *words]

    def shell_command(self, service: str) -> list[str]:
        shell = "command -v bash >/dev/null && exec bash || exec sh"
        # Docker refuses -t where there is no terminal, as in a script.
        terminal = ["-t"] if sys.stdin.isatty() else []
        return [*docker.command(), "exec", "-i", *terminal, self._name(service), "sh", "-c", shell]

    def how_it_ended(self, service: str) -> str | None:
        form = "{{.State.Running}} {{.State.ExitCode}} {{.State.OOMKilled}}"
        state = _answer("inspect", "--format", form, self._name(service)).split()
        if len(state) != len(form.split()) or state[0] == "true":
            return None
        return _ending(int(state[1]), out_of_memory=state[2] == "true")

    def _name(self, service: str) -> str:
        return f"{self._project}-{service}-1"


def _ending(code: int, *, out_of_memory: bool) -> str:
    """Return how a container ended; codes above 128 are signals, as a shell gives them."""
    by_signal = code - 128 in set(signal.Signals)
    how = ending_text(128 - code if by_signal else code)
    return f"{how}, as its memory was used up" if out_of_memory else how


def _here(images: list[str]) -> bool:
    words = [*docker.command(), "image", "inspect", "--format", "{{.Id}}", *images]
    return subprocess.run(words, capture_output=True).returncode == 0


def _how_to_get(image: str) -> str:
    if image.startswith("ccu-traffic"):
        return "build it: docker compose --profile rfsim build data-network"
    return f"type: docker pull {image}"


def _explain(message: str) -> str:
    if "Pool overlaps" in message:
        fix = "`ccu clean` or `ccu testbed down`, or see docker network ls"
        return f"{message}\n  another network has these addresses. Use {fix}"
    if "Address already in use" in message or "port is already allocated" in message:
        return f"{message}\n  another container has the address. Use `ccu clean`, or see docker ps"
    if "has active endpoints" in message:
        # Docker may lose count when containers start or end at the same time:
        # https://github.com/moby/moby/issues/42119
        fix = "remove it, or if there is none, as Docker has miscounted, restart Docker"
        return f"{message}: another container uses it; {fix}, then type: ccu clean"
    return message


@dataclass(frozen=True)
class ComposeProject:
    """The containers and networks of one Compose project, found by its label."""

    kind: ClassVar[str] = "compose-project"
    name: str

    def remove(self) -> list[str]:
        done = []
        for kind, listing, removal in (
            ("container", ["ps", "-aq"], ["rm", "-f", "-v"]),
            ("network", ["network", "ls", "-q"], ["network", "rm"]),
        ):
            label = f"label=com.docker.compose.project={self.name}"
            if ids := _answer(*listing, "--filter", label).split():
                _answer(*removal, *ids)
                done.append(f"removed {len(ids)} {kind}{'s' * (len(ids) > 1)} of {self.name}")
        return done


def _answer(*words: str) -> str:
    """Return what `docker WORDS…` prints. Raises RefusedError without docker, else RunFailed."""
    answer = programs.shielded([*docker.command(), *words])
    # A container may have ended in between; the answer on the others is valid.
    if answer.returncode != 0 and "No such" not in answer.stderr:
        raise RunFailed("containers", f"docker {words[0]}: {_explain(answer.stderr.strip())}")
    return answer.stdout
