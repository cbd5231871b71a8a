# SPDX-License-Identifier: Apache-2.0
"""The names of the Python packages (CONTRIBUTING.md): one lower-case word each."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_distribution_has_the_name_of_its_import() -> None:
    files = [*ROOT.glob("[a-z]*/pyproject.toml"), *ROOT.glob("[a-z]*/[a-z]*/pyproject.toml")]
    # Those of packaging/ make wheels of other folders' packages.
    others = (ROOT / "examples", ROOT / "packaging")
    files = [file for file in files if not any(file.is_relative_to(one) for one in others)]
    names = {}
    for file in files:
        declared = re.search(r'^name = "([^"]*)"$', file.read_text(), re.MULTILINE)
        assert declared, file
        names[file.parent] = declared[1]
    assert {"ccu", "ddu"} <= set(names.values())
    for folder, name in names.items():
        assert re.fullmatch("[a-z][a-z0-9]*", name), folder
        inits = [folder / name / "__init__.py", folder / "src" / name / "__init__.py"]
        assert any(init.is_file() for init in inits), folder
