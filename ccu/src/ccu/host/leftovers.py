# SPDX-License-Identifier: Apache-2.0
"""What a run makes outside its directory, written down first, so that the next ccu can remove it.

One file for each run, in /run/ccu: it vanishes with the run, and with a reboot, as what it names.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ccu.host import processes, programs
from ccu.host.processes import Identity
from ccu.spec.errors import Refused

FOLDER = Path("/run/ccu")


@dataclass
class Belongings:
    """What one run owns. Every change is on disk before the thing itself exists."""

    run_id: str
    owner: Identity
    run_directory: str
    namespaces: list[str] = field(default_factory=list)
    children: list[Identity] = field(default_factory=list)
    reminis_bpf: bool = False
    reminis_module: bool = False
    """The run loaded it."""
    reminis_parameters: dict[str, str] = field(default_factory=dict)
    """The module's, as they were before the run changed them."""
    attached: list[str] = field(default_factory=list)
    """Names given to networks of containers; what runs in these is not ours to end."""
    kept: bool = False
    """A testbed brought up by hand: it stays until `ccu testbed down`."""
    compose_project: str | None = None
    lxc_containers: list[str] = field(default_factory=list)
    bridges: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.run_id}.json"

    def save(self) -> None:
        FOLDER.mkdir(mode=0o755, exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self)))
        part.replace(self.file)

    def forget(self) -> None:
        self.file.unlink(missing_ok=True)


def of_this_process(run_id: str, run_directory: Path) -> Belongings:
    owner = processes.identify(os.getpid())
    assert owner is not None
    belongings = Belongings(run_id, owner, str(run_directory.resolve()))
    belongings.save()
    return belongings


def abandoned() -> list[Belongings]:
    """The belongings of runs whose ccu is gone."""
    return [one for one in everybodys() if not one.kept and not processes.alive(one.owner)]


def kept() -> list[Belongings]:
    """The testbeds that were brought up by hand."""
    return [one for one in everybodys() if one.kept]


def everybodys() -> list[Belongings]:
    """Of the runs and testbeds that go on, and of those whose ccu is gone."""
    found = []
    for file in sorted(FOLDER.glob("*.json")):
        # Another ccu may have finished in between.
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError, KeyError):
            raw = json.loads(file.read_text())
            raw["owner"] = Identity(*raw["owner"])
            raw["children"] = [Identity(*child) for child in raw["children"]]
            found.append(Belongings(**raw))
    return found


def remove(belongings: Belongings) -> list[str]:
    """Ends and removes what `belongings` names and still exists; sentences that say what."""
    from pyroute2 import netns  # takes longer than most commands

    from ccu.congestion.reminis import implementation as reminis

    done = []
    inside = [who for name in belongings.namespaces for who in _inhabitants(name)]
    running = [who for who in {*belongings.children, *inside} if processes.alive(who)]
    if running:
        processes.end(running)
        done.append(f"ended processes {', '.join(str(who.pid) for who in running)}")
    done += _remove_containers(belongings)
    for name in [*belongings.namespaces, *belongings.attached]:
        if name in netns.listnetns():
            netns.remove(name)
            done.append(f"removed network namespace {name}")
    if belongings.reminis_bpf and (loader := programs.find("reminis-bpf")):
        said = subprocess.run([loader, "clean"], capture_output=True, text=True, timeout=30)
        # From Linux 6.4 on it is gone with its loader, and there is nothing to remove.
        if said.returncode == 0 and '"removed":0' not in said.stdout:
            done.append("removed Reminis from the kernel")
    done += reminis.restore(belongings.reminis_parameters, unload=belongings.reminis_module)
    belongings.forget()
    return done


def _remove_containers(belongings: Belongings) -> list[str]:
    done: list[str] = []
    if belongings.compose_project:
        from ccu.testbeds.oai.docker_runtime import remove_project

        done += remove_project(belongings.compose_project)
    if belongings.lxc_containers or belongings.bridges:
        from ccu.testbeds.oai.lxc_runtime import remove_containers

        done += remove_containers(belongings.lxc_containers, belongings.bridges)
    return done


def _inhabitants(namespace: str) -> list[Identity]:
    """Processes whose network namespace is `namespace`, which is ours alone."""
    try:
        wanted = (Path("/run/netns") / namespace).stat()
    except OSError:
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            there = (entry / "ns" / "net").stat()
            if (there.st_ino, there.st_dev) == (wanted.st_ino, wanted.st_dev):
                found.append(processes.identify(int(entry.name)))
    return [who for who in found if who is not None]


def need_root(command: str) -> None:
    """Raises Refused with the command to type instead, if this is not root."""
    if os.geteuid() != 0:
        raise Refused(f"network namespaces and devices need root; type: sudo {command}")
