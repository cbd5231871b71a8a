# SPDX-License-Identifier: Apache-2.0
"""`ccu worker`: this machine's testbeds for campaigns of another."""

from __future__ import annotations

import os
import re
import sys
from typing import Annotated

import typer

from ccu.campaigns.engines.remote import CORE, RESOURCE
from ccu.host import programs
from ccu.host.cores import allowed
from ccu.host.root import need_root
from ddu.console.problems import refusal

app = typer.Typer(add_completion=False)
_SCHEDULER = re.compile(r"([a-z]+://)?[^\s/]+:\d{1,5}")


@app.command()
def worker(
    scheduler: Annotated[
        str, typer.Option(help="Address of Dask's scheduler, such as tcp://10.0.0.1:8786.")
    ],
    testbeds: Annotated[
        int, typer.Option(min=0, help="Number of runs in real time at a time; 0 needs no root.")
    ] = 1,
    cores: Annotated[
        int | None,
        typer.Option(min=0, help="Number of runs in virtual time at a time. (default: all cores)"),
    ] = None,
) -> None:
    """Offer this machine's testbeds to campaigns (docs/scaling.md)."""
    if not _SCHEDULER.fullmatch(scheduler):
        raise refusal(
            f"{scheduler!r} is not an address",
            "write for example tcp://10.0.0.1:8786",
            key="--scheduler",
        )
    if testbeds:
        need_root()
    at_once = allowed() if cores is None else cores
    if not (threads := max(testbeds, at_once)):
        raise refusal("this worker would do no runs", "offer testbeds or cores", key="--testbeds")
    dask = programs.require("dask")
    command = [dask, "worker", scheduler, "--nworkers", "1", "--nthreads", str(threads)]
    command += ["--resources", f"{RESOURCE}={testbeds} {CORE}={at_once}", "--no-dashboard"]
    # A daemon of multiprocessing could not start the processes of the runs.
    os.environ["DASK_DISTRIBUTED__WORKER__DAEMON"] = "False"
    sys.stdout.flush()
    os.execv(dask, command)
