# SPDX-License-Identifier: Apache-2.0
"""`ccu worker`: this machine's testbeds for campaigns of another."""

from __future__ import annotations

from typing import Annotated

import typer

from ccu.campaigns.engines import members
from ccu.campaigns.engines.remote import CORE, RESOURCE
from ccu.cli.cluster_options import SCHEDULER, Tls
from ccu.host.cores import allowed
from ccu.host.root import need_root
from ddu.campaign import cluster
from ddu.console.problems import refusal

app = typer.Typer(add_completion=False)


@app.command()
def worker(
    scheduler: Annotated[str, typer.Option(help=SCHEDULER)],
    testbeds: Annotated[
        int, typer.Option(min=0, help="Number of runs in real time at a time; 0 needs no root.")
    ] = 1,
    cores: Annotated[
        int | None,
        typer.Option(min=0, help="Number of runs in virtual time at a time. (default: all cores)"),
    ] = None,
    tls: Tls = None,
) -> None:
    """Offer this machine's testbeds to campaigns (docs/scaling.md).

    Whoever may connect to the scheduler or to this worker runs code here as its user. Without --tls
    that is every user of the machine (127.0.0.1), or of the network; root needs --tls.
    """
    if testbeds:
        need_root()
    address = cluster.address(scheduler, tls)
    at_once = allowed() if cores is None else cores
    if not (threads := max(testbeds, at_once)):
        raise refusal("this worker would do no runs", "offer testbeds or cores", key="--testbeds")
    address.refuse_another_cluster()
    members.become(
        "worker", address.from_here(), address.certificates, str(address),
        "--nworkers", "1", "--nthreads", str(threads),
        "--resources", f"{RESOURCE}={testbeds} {CORE}={at_once}",
    )  # fmt: skip
