# SPDX-License-Identifier: Apache-2.0
"""The example notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from testsupport.synthetic_run import steady

NOTEBOOK = Path(__file__).parents[2] / "examples/one-run.ipynb"


def test_the_example_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DDU_RUN", str(steady(400).write(tmp_path / "run")))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    printed = "".join(
        output.get("text", "")
        for cell in notebook.cells if cell.cell_type == "code"
        for output in cell.outputs
    )  # fmt: skip
    assert printed.startswith("valid")
    assert "mean RTT 20.00 ms" in printed
    assert "tcp_goodput_bps | bit/s" in printed
    assert any("image/png" in output.get("data", {}) for output in notebook.cells[-1].outputs)
