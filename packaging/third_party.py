# SPDX-License-Identifier: Apache-2.0
"""Licences and a bill of materials of the crates in the compiled programs of the wheel.

Usage: python packaging/third_party.py FOLDER
Writes NOTICES.txt (each crate with its licence, its authors and the texts that it comes with) and
programs.cdx.json (CycloneDX). Only the crates that are linked count: cargo tree names them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMS = (
    "nr-link", "socket-sampler", "quic-flow", "nr-link-virtual-guest", "nr-link-virtual-library",
    "ddu-packets",
)  # fmt: skip
TARGET = "x86_64-unknown-linux-gnu"
# They run while others are compiled, and are not in the programs.
_COMPILE_TIME = "(proc-macro)"
_TEXTS = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)

Crate = dict[str, Any]


def main(folder: Path) -> None:
    crates = linked()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "NOTICES.txt").write_text(notices(crates))
    bill = json.dumps(bill_of_materials(crates), indent=1)
    (folder / "programs.cdx.json").write_text(bill + "\n")


def linked() -> list[Crate]:
    """Return the crates of others that the programs are linked with, as cargo describes them."""
    names = set()
    for program in PROGRAMS:
        tree = ("tree", "--package", program, "--edges", "normal", "--target", TARGET)
        features = ("--features", "python") if program == "ddu-packets" else ()
        for line in _cargo(*tree, *features, "--prefix", "none").splitlines():
            if _COMPILE_TIME not in line:
                names.add(tuple(line.split()[:2]))
    described = json.loads(_cargo("metadata", "--format-version", "1"))["packages"]
    crates = [one for one in described if one["source"]]
    crates = [one for one in crates if (one["name"], f"v{one['version']}") in names]
    if unlicensed := [one["name"] for one in crates if not one["license"]]:
        raise SystemExit(f"third_party: no licence is named by {', '.join(unlicensed)}")
    return sorted(crates, key=lambda one: (one["name"], one["version"]))


def notices(crates: list[Crate]) -> str:
    """Return the licence of each crate and its texts; a text that several have, once."""
    parts = ["The programs of over5g contain these crates of others, under these licences.\n"]
    shown: dict[str, str] = {}
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        parts.append(f"\n{'=' * 80}\n{name}: {crate['license']}\n")
        if crate["authors"]:
            parts.append(f"Authors: {', '.join(crate['authors'])}\n")
        for file in sorted(Path(crate["manifest_path"]).parent.iterdir()):
            if not (file.is_file() and _TEXTS.match(file.name)):
                continue
            text = file.read_text(errors="replace").strip()
            if text in shown:
                parts.append(f"{file.name}: as that of {shown[text]}\n")
            else:
                shown[text] = name
                parts.append(f"{file.name}:\n\n{text}\n")
    return "".join(parts)


def bill_of_materials(crates: list[Crate]) -> dict[str, Any]:
    """Return the crates as CycloneDX 1.6 has them."""
    components = [
        {
            "type": "library",
            "name": crate["name"],
            "version": crate["version"],
            "purl": f"pkg:cargo/{crate['name']}@{crate['version']}",
            "licenses": [{"expression": crate["license"].replace("/", " OR ")}],
        }
        for crate in crates
    ]
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}


def _cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
