# SPDX-License-Identifier: Apache-2.0
"""The wheel `over5g`: what hatchling cannot read from the tree (docs/releases.md).

The packages' own pyproject.toml say what they depend on and offer; the wheel has the sum of it.
The compiled files are those of this checkout (`make build`), or of the folder OVER5G_COMPILED
(`packaging/wheels`), where a file `platform` names the oldest C library that they run with, and
packaging/third_party.py has written what of others is in them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PACKAGES = ("cc/python", "cc/training", "ccu", "ddu", "over5g")
# Its packages are large, and only those who train need them.
EXTRA_OF = {"cc/training": "gym"}
PROGRAMS = ("nr-link", "socket-sampler", "quic-flow")
# nr-link looks for them beside its own folder.
LIBRARIES = ("libnr_link_virtual.so", "nr-link-guest")
EXTENSION = "_packets.abi3.so"


class Metadata(MetadataHookInterface):
    """Adds up what the packages depend on and offer."""

    def update(self, metadata: dict[str, Any]) -> None:
        projects = {
            folder: tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
            for folder in PACKAGES
        }
        own = {project["name"] for project in projects.values()}
        needed: set[str] = set()
        extras: dict[str, set[str]] = {}
        metadata["scripts"] = {}
        metadata["entry-points"] = {}
        for folder, project in projects.items():
            others = set(project["dependencies"]) - own
            if extra := EXTRA_OF.get(folder):
                extras.setdefault(extra, set()).update(others)
            else:
                needed |= others
            for extra, packages in project.get("optional-dependencies", {}).items():
                extras.setdefault(extra, set()).update(packages)
            metadata["scripts"] |= project.get("scripts", {})
            for group, points in project.get("entry-points", {}).items():
                metadata["entry-points"].setdefault(group, {}).update(points)
        kernel = f"over5g-kernel=={metadata['version']}; platform_machine == 'x86_64'"
        metadata["dependencies"] = [*sorted(needed), kernel]
        metadata["optional-dependencies"] = {name: sorted(extras[name]) for name in sorted(extras)}


class Compiled(BuildHookInterface[Any]):
    """Adds the compiled files, and the revision that run.json names where there is no checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise SystemExit(
                "over5g: the packages are what is installed in editable mode: run make build"
            )
        folder = os.environ.get("OVER5G_COMPILED")
        programs = Path(folder) if folder else ROOT / ".venv/bin"
        extension = (Path(folder) if folder else ROOT / "ddu/src/ddu") / EXTENSION
        for name in PROGRAMS:
            build_data["shared_scripts"][self._there(programs / name)] = name
        for name in LIBRARIES:
            build_data["shared_data"][self._there(programs / name)] = f"lib/nr-link/{name}"
        build_data["force_include"][self._there(extension)] = f"ddu/{EXTENSION}"
        if folder:
            notices = self._there(programs / "NOTICES.txt")
            build_data["shared_data"][notices] = "share/over5g/NOTICES.txt"
            build_data["sbom_files"].append(self._there(programs / "programs.cdx.json"))
        named = programs / "platform"
        platform = named.read_text().strip() if named.exists() else "linux_x86_64"
        # The extension uses Python's stable interface, from 3.10 on.
        build_data["tag"] = f"cp310-abi3-{platform}"
        build_data["pure_python"] = False
        if (revision := self._git("rev-parse", "HEAD")) is not None:
            modified = bool(self._git("status", "--porcelain"))
            self._revision.parent.mkdir(parents=True, exist_ok=True)
            self._revision.write_text(
                json.dumps({"git_revision": revision, "git_modified": modified}) + "\n"
            )
            build_data["force_include"][str(self._revision)] = "ccu/data/revision.json"

    def finalize(self, *_: object) -> None:
        self._revision.unlink(missing_ok=True)

    @property
    def _revision(self) -> Path:
        return Path(self.directory, f"revision-{os.getpid()}.json")

    @staticmethod
    def _there(file: Path) -> str:
        if not file.exists():
            raise SystemExit(f"{file}: is not built. Run make build, or make dist")
        return str(file)

    @staticmethod
    def _git(*arguments: str) -> str | None:
        git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), *arguments]
        said = subprocess.run(git, capture_output=True, text=True, check=False)
        return said.stdout.strip() if said.returncode == 0 else None
