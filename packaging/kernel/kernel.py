# SPDX-License-Identifier: Apache-2.0
"""The wheel `over5g-kernel`: a kernel that was built, with the source of what it adds to Linux."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[2]
BUILT = ("linux", "congestion-controls", "about.json")


class Kernel(BuildHookInterface[Any]):
    """OVER5G_KERNEL names the folder (default: the one of this checkout)."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        named = os.environ.get("OVER5G_KERNEL")
        built = Path(named) if named else (ROOT / ".tools/virtual-kernel/linux").resolve().parent
        data = build_data["shared_data"]
        for name in BUILT:
            if not (built / name).exists():
                raise SystemExit(f"{built / name}: is not built. Run make kernel, or make dist")
            data[str(built / name)] = f"lib/nr-link/{name}"
        for name in self._sources():
            data[str(ROOT / name)] = f"share/over5g-kernel/{name}"
        about = json.loads((built / "about.json").read_text())
        build_data["tag"] = f"py3-none-{about['platform']}"
        build_data["pure_python"] = False

    @staticmethod
    def _sources() -> list[str]:
        """Return what goes into the kernel besides Linux."""
        listed = subprocess.run(
            [ROOT / "setup/kernel", "--parts"], capture_output=True, text=True, check=True
        )
        return listed.stdout.split()
