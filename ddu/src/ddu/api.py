# SPDX-License-Identifier: Apache-2.0
"""A run in a notebook."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ddu.analyze import analyze
from ddu.errors import UnreadableInput
from ddu.run.manifest import Manifest, read_manifest

_ANEW = "make it anew: ddu analyze"


class Run:
    """The results of one run. It is analysed when first asked for, if it has not been."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = read_manifest(path)

    def analyze(self) -> dict[str, Any]:
        """Analyses the run anew, whatever was there; returns its summary. Raises DduError."""
        for name in ("summary", "aligned"):
            self.__dict__.pop(name, None)
        return analyze(self.path)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json: the headline figures, as docs/metrics.md defines them."""
        file = self.path / "summary.json"
        if not file.exists():
            return analyze(self.path)
        try:
            content = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise UnreadableInput(file, str(error), _ANEW) from None
        if not isinstance(content, dict) or "verdict" not in content:
            raise UnreadableInput(file, "not what `ddu analyze` writes", _ANEW)
        return content

    def table(self, name: str) -> pd.DataFrame:
        """A table of those that `ddu schema` lists. KeyError: the run has none of this name.

        Raises UnreadableInput for one that is not whole.
        """
        _ = self.summary
        file = self.path / "tables" / f"{name}.parquet"
        if not file.exists():
            there = ", ".join(sorted(each.stem for each in file.parent.glob("*.parquet")))
            raise KeyError(f"{self.path}: no table {name}; it has {there or 'none'}")
        try:
            return pd.read_parquet(file)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableInput(file, str(error), _ANEW) from None

    @cached_property
    def aligned(self) -> pd.DataFrame:
        """Every layer per bin and flow, on one clock."""
        return self.table("aligned")


def open_run(path: Path | str) -> Run:
    """The run in directory `path`. Raises NotARun, FutureSchema, UnreadableInput."""
    return Run(Path(path))
