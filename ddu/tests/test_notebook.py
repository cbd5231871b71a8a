# SPDX-License-Identifier: Apache-2.0
"""The example notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from ddu.api import open_run
from testsupport.synthetic_run import steady

NOTEBOOK = Path(__file__).parents[2] / "examples/one-run.ipynb"


@pytest.mark.parametrize("place", ["runs", "../runs", "DDU_RUN"])
def test_the_example_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    folder = tmp_path / "examples"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DDU_RUN", raising=False)
    made = folder / place / "20260102T000000Z-cubic"
    made.parent.mkdir()
    steady(400).write(made)
    (made.parent / "20260101T000000Z-older").mkdir()
    (made.parent / "20260101T000000Z-older/run.json").write_text("{}")
    if place == "DDU_RUN":
        monkeypatch.setenv("DDU_RUN", str(made))
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


def test_the_repr_of_a_run_says_where_it_is_and_analyses_nothing(tmp_path: Path) -> None:
    run = open_run(steady(400).write(tmp_path / "run"))
    assert repr(run) == f"<Run {run.path}: finished, not analysed>"
    goodput_bps = run.summary["goodput_bps"]
    assert repr(run).startswith(f"<Run {run.path}: verdict: valid · {goodput_bps / 1e6:.1f} Mbit/s")
