# SPDX-License-Identifier: Apache-2.0
"""`setup/kernel`: one kernel for all checkouts and users. A program that only looks like one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "setup/virtual-kernel"
SOURCE = "linux-source-6.12 6.12.1-1"
APT = """#!/bin/sh
[ "$1" = pkgnames ] && echo linux-source-6.12 || echo '  Candidate: 6.12.1-1'
"""


class Checkout:
    """A copy of what setup/kernel reads, with an apt that knows one source and downloads none."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.cache = folder / "cache"
        self.programs = folder / "programs"
        parts = subprocess.run(
            [ROOT / "setup/kernel", "--parts"], capture_output=True, text=True, check=True
        )
        self.parts = parts.stdout.split()
        for name in ("setup/kernel", *self.parts):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        self.programs.mkdir()
        for name, text in (("apt-cache", APT), ("apt-get", "#!/bin/sh\nexit 1\n")):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CCU_KERNEL")}
        changed = {
            "PATH": f"{self.programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.cache),
        }  # fmt: skip
        return subprocess.run(
            command, cwd=self.tree, env=outside | changed | environment,
            capture_output=True, text=True,
        )  # fmt: skip

    def digest(self, prefix: str = "") -> str:
        content = b"".join((self.tree / name).read_bytes() for name in self.parts)
        return hashlib.sha256(prefix.encode() + content).hexdigest()[:16]

    def kernel(self, folder: Path, **about: str) -> Path:
        """Write a kernel that was made of the parts of this checkout."""
        folder.mkdir(parents=True)
        kernel = folder / "linux"
        shutil.copy(shutil.which("true") or "/bin/true", kernel)
        sha256 = hashlib.sha256(kernel.read_bytes()).hexdigest()
        content = {"source": SOURCE, "parts": self.digest(), "sha256": sha256} | about
        (folder / "about.json").write_text(json.dumps(content, indent=2))
        (folder / "congestion-controls").write_text("reno\n")
        return kernel


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_it_compares_what_the_recipe_makes_a_kernel_of(checkout: Checkout) -> None:
    (tick_hz,) = re.findall(r"^tick_hz=(\d+)$", RECIPE.read_text(), re.MULTILINE)
    key = checkout.run("setup/virtual-kernel", "--key").stdout.strip()
    assert key == checkout.digest(f"{SOURCE} {tick_hz}\n")


def test_a_kernel_of_another_checkout_is_taken(checkout: Checkout) -> None:
    kernel = checkout.kernel(checkout.cache / "nr-link/a-key")
    said = checkout.run("setup/kernel")
    assert said.stdout == f"{kernel}\n", said.stderr
    assert (checkout.tree / ".tools/virtual-kernel/linux").resolve() == kernel


@pytest.mark.parametrize("place", [".venv/lib/nr-link", ".tools/virtual-kernel"])
def test_what_is_built_here_is_shared(checkout: Checkout, place: str) -> None:
    """The kernel of a package is only taken; one that this checkout built goes to the cache."""
    own = place.startswith(".tools")
    key = checkout.run("setup/virtual-kernel", "--key").stdout.strip()
    kernel = checkout.kernel(checkout.tree / place / (key if own else ""))
    assert checkout.run("setup/kernel").stdout == f"{kernel}\n"
    shared = checkout.cache / "nr-link" / key
    assert shared.exists() == own
    if own:
        assert (shared / "linux").read_bytes() == kernel.read_bytes()
        assert {file.name for file in shared.iterdir()} == {
            "linux", "about.json", "congestion-controls",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"parts": "of another checkout"}, "cannot download"),
        ({"sha256": "another"}, "is not the kernel that"),
    ],
)
def test_another_kernel_is_not_taken(
    checkout: Checkout, about: dict[str, str], message: str
) -> None:
    checkout.kernel(checkout.cache / "nr-link/a-key", **about)
    said = checkout.run("setup/kernel")
    assert said.returncode == 1
    assert message in said.stderr


def test_a_named_kernel_comes_first_and_must_be_there(checkout: Checkout, tmp_path: Path) -> None:
    checkout.kernel(checkout.cache / "nr-link/a-key")
    named = checkout.kernel(tmp_path / "named")
    assert checkout.run("setup/kernel", CCU_KERNEL=str(named)).stdout == f"{named}\n"
    said = checkout.run("setup/kernel", CCU_KERNEL="/nowhere/linux")
    assert said.returncode == 1
    assert "CCU_KERNEL: /nowhere/linux is not a program" in said.stderr
