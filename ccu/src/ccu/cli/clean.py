# SPDX-License-Identifier: Apache-2.0
"""`ccu clean`: remove what runs that were killed, and testbeds that are down, left behind."""

from __future__ import annotations

import typer

from ccu.host import resources, testbed_logs
from ccu.host.root import need_root

app = typer.Typer(add_completion=False)


@app.command()
def clean() -> None:
    """Remove what killed runs left, and the logs of testbeds that are down.

    Only what ccu made is removed.
    """
    need_root()
    for sentence in resources.clean() + testbed_logs.remove() or ["nothing was left"]:
        print(sentence)
    if resources.kept():
        print("a testbed is up, started manually; end it: ccu testbed down")
