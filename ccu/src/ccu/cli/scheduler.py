# SPDX-License-Identifier: Apache-2.0
"""`ccu scheduler`: Dask's scheduler, to which workers and campaigns connect."""

from __future__ import annotations

from typing import Annotated

import typer

from ccu.campaigns.engines import members
from ccu.cli.cluster_options import Tls
from ddu.campaign import cluster
from ddu.console.authority import authority

app = typer.Typer(add_completion=False)


@app.command()
def scheduler(
    host: Annotated[str, typer.Option(help="Address of this machine to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port.")] = cluster.PORT,
    tls: Tls = None,
) -> None:
    """Start the scheduler of a cluster (docs/scaling.md).

    Whoever may connect to it runs code on all workers as their users. Without --tls that is every
    user of the machine (127.0.0.1), or of the network; root needs --tls.
    """
    scheme = "tls" if tls else "tcp"
    address = cluster.address(f"{scheme}://{authority(host, port)}", tls, key="--host")
    members.become(
        "scheduler", host, address.certificates, "--protocol", scheme, "--port", str(port)
    )
