# SPDX-License-Identifier: Apache-2.0
"""Dask's scheduler and worker, reachable where the cluster needs it and nowhere else."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from ccu.host import programs, resources
from ddu import interpreter
from ddu.campaign.cluster import Certificates

# Dask serves pages about tasks to everyone who reaches their port, whatever --host says.
_NO_PAGES = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
_ENVIRONMENT = {
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
    # A daemon of multiprocessing could not start the processes of the runs.
    "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
    # Dask looks at itself up to 100 times a second, which would disturb runs in real time.
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "5s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
PROGRAM = "ccu.campaigns.engines.dask_program"


def become(role: str, host: str, certificates: Certificates | None, *options: str) -> NoReturn:
    """Replace this process by `dask ROLE`, which listens at `host` only."""
    programs.require("dask")
    command = [role, *options, "--host", host, *_NO_PAGES]
    if certificates:
        command += ["--tls-ca-file", str(certificates.authority)]
        command += ["--tls-cert", str(certificates.certificate)]
        command += ["--tls-key", str(certificates.key)]
    # Not in /tmp, where Dask would take the folder of another user: it executes what is in it.
    scratch = resources.FOLDER / "dask"
    for folder in (resources.FOLDER, scratch):
        resources.make_own(folder)
    os.environ.update(_ENVIRONMENT, DASK_TEMPORARY_DIRECTORY=str(scratch))
    sys.stdout.flush()
    words = [*interpreter.of_package(PROGRAM), *command]
    os.execv(words[0], words)
