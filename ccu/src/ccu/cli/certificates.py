# SPDX-License-Identifier: Apache-2.0
"""`ccu certificates`: the certificates of a cluster of workers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from ccu.host import programs
from ddu.campaign.cluster import Certificates
from ddu.console.problems import refusal
from ddu.run import durable

app = typer.Typer(add_completion=False)


@app.command()
def certificates(
    folder: Annotated[Path, typer.Argument(help="Folder to make.")],
    days: Annotated[int, typer.Option(min=1, max=36500, help="Days until they expire.")] = 365,
) -> None:
    """Make the certificates of a cluster, for `--tls` of its members.

    Whoever has them runs code on all workers: copy the folder to the machines of the cluster only.
    """
    make(folder, days)
    print(f"certificates: {folder}, for {days} days")
    print("next: copy the folder to each machine of the cluster, and give it as --tls there")


def make(folder: Path, days: int) -> None:
    """Make the folder, completely or not at all. Raises RefusedError.

    All members are equal, so they share one key; no authority stays that could sign more.
    """
    openssl = programs.require("openssl")
    if folder.exists():
        raise refusal("exists already", "choose another folder", file=folder)
    try:
        with durable.temporary_folder(folder.absolute().parent, ".certificates-") as part:
            ours = Certificates(part)
            command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt"]
            command += ["ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days)]
            command += ["-subj", "/CN=ccu-cluster"]
            command += ["-keyout", str(ours.key), "-out", str(ours.certificate)]
            subprocess.run(command, check=True, capture_output=True, umask=0o077)
            shutil.copyfile(ours.certificate, ours.authority)
            part.rename(folder)
    except OSError as error:
        raise refusal(f"cannot be made ({error.strerror})", "", file=folder) from None
