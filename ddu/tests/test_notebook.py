# SPDX-License-Identifier: Apache-2.0
"""The example notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from ddu.api import open_run
from testsupport.synthetic_run import steady

NOTEBOOK = Path(__file__).parents[2] / "examples/one-run.ipynb"


PLACES = ("runs", "../runs", "DDU_RUN")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[NotebookNode]]:
    """The code cells of the notebook after its execution, by the place of the run.

    One kernel executes it in all places, each time without names: to start one takes seconds."""
    together, cells = new_notebook(), {}
    for place in PLACES:
        folder = tmp_path_factory.mktemp("notebook") / "examples"
        folder.mkdir()
        made = folder / place / "20260102T000000Z-cubic"
        made.parent.mkdir()
        steady(400).write(made)
        (made.parent / "20260101T000000Z-older").mkdir()
        (made.parent / "20260101T000000Z-older/run.json").write_text("{}")
        begin = f"import os; os.chdir({str(folder)!r}); os.environ.pop('DDU_RUN', None)"
        if place == "DDU_RUN":
            begin += f"; os.environ['DDU_RUN'] = {str(made)!r}"
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        cells[place] = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(not cell.outputs for cell in cells[place])
        together.cells += [new_code_cell("%reset -f"), new_code_cell(begin), *cells[place]]
    NotebookClient(together, timeout=300, kernel_name="python3").execute()
    return cells


@pytest.mark.parametrize("place", PLACES)
def test_the_example_notebook(executed: dict[str, list[NotebookNode]], place: str) -> None:
    outputs = [output for cell in executed[place] for output in cell.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    assert printed.startswith("valid")
    assert "mean RTT 20.00 ms" in printed
    assert "tcp_goodput_bps | bit/s" in printed
    assert any("image/png" in output.get("data", {}) for output in executed[place][-1].outputs)


def test_the_repr_of_a_run_says_where_it_is_and_analyses_nothing(tmp_path: Path) -> None:
    run = open_run(steady(400).write(tmp_path / "run"))
    assert repr(run) == f"<Run {run.path}: finished, not analysed>"
    goodput_bps = run.summary["goodput_bps"]
    assert repr(run).startswith(f"<Run {run.path}: verdict: valid · {goodput_bps / 1e6:.1f} Mbit/s")
