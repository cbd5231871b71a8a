# SPDX-License-Identifier: Apache-2.0
"""The wheel `over5g-kernel`: a kernel that setup/virtual-kernel built, with its sources."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[2]
BUILT = ("linux", "congestion-controls", "about.json")
# What goes into it besides Linux: setup/virtual-kernel has the same list.
SOURCES = (
    "setup/virtual-kernel", "nr-link/virtual/kernel.config", "nr-link/virtual/driver/*",
    "cc/plane/plane_*.h", "kmod/reminis_*.h", "kmod/module/*.[ch]", "kmod/module/Kbuild",
)  # fmt: skip


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
        for pattern in SOURCES:
            for file in sorted(ROOT.glob(pattern)):
                data[str(file)] = f"share/over5g-kernel/{file.relative_to(ROOT)}"
        about = json.loads((built / "about.json").read_text())
        build_data["tag"] = f"py3-none-{about['platform']}"
        build_data["pure_python"] = False
