# SPDX-License-Identifier: Apache-2.0
"""The options of the commands that talk to a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SCHEDULER = "Address of Dask's scheduler, such as tls://10.0.0.1:8786."
Tls = Annotated[
    Path | None,
    typer.Option(help="Folder of the cluster's certificates, which `ccu certificates` makes."),
]
