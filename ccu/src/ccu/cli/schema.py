# SPDX-License-Identifier: Apache-2.0
"""`ccu schema`: the form of an experiment file, for editors and other programs."""

from __future__ import annotations

import json

import typer

from ccu.scenarios import nr_link
from ccu.spec.schema import experiment_schema

app = typer.Typer(add_completion=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of an experiment file."""
    print(json.dumps(experiment_schema(nr_link.radio_schema()), indent=2, ensure_ascii=False))
