# SPDX-License-Identifier: Apache-2.0
"""The revision of the source in a wheel: run.json names it where there is no checkout."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RevisionHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or (revision := self._git("rev-parse", "HEAD")) is None:
            return
        content = {
            "git_revision": revision,
            "git_modified": bool(self._git("status", "--porcelain")),
        }
        self._file.write_text(json.dumps(content) + "\n")
        build_data["force_include"][str(self._file)] = "ccu/data/revision.json"

    def finalize(self, *_: object) -> None:
        self._file.unlink(missing_ok=True)

    @property
    def _file(self) -> Path:
        return Path(self.directory, "revision.json")

    def _git(self, *arguments: str) -> str | None:
        top = Path(self.root).parent
        git = ["git", "-c", f"safe.directory={top}", "-C", str(top), *arguments]
        said = subprocess.run(git, capture_output=True, text=True, check=False)
        return said.stdout.strip() if said.returncode == 0 else None
