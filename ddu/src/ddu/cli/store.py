# SPDX-License-Identifier: Apache-2.0
"""`ddu publish`, `ddu unpublish` and `ddu store …`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from ddu.console.authority import authority
from ddu.console.ending import error_text
from ddu.console.problems import RefusedError
from ddu.run.find import newest_run, runs_of
from ddu.store.directory import READER, StoreDirectory, default_directory, locate

if TYPE_CHECKING:
    from ddu.store.publish import Published

warn = partial(typer.echo, err=True)

StoreUrl = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="PostgreSQL address (default: $DDU_STORE, or "
                 "the store that `ddu store up` made)."),
]  # fmt: skip
Runs = Annotated[Path, typer.Option(help="Directory of the runs.")]
Replace = Annotated[bool, typer.Option(help="Replace a stored run of the same name.")]
Directory = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Directory of the store (default: $DDU_STORE_DIR, or "
                 "the user's data directory)."),
]  # fmt: skip

store_app = typer.Typer(help="Manage the store of runs: PostgreSQL, and Grafana in containers.",
                        no_args_is_help=True)  # fmt: skip


def publish(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]…",
            help="Runs, campaigns or folders of runs (default: the newest run).")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Follow a run or campaign in progress; "
                           "if none is named, wait for the next run.")] = False,
    no_tables: Annotated[
        bool, typer.Option("--no-tables", help="With --live: only show the run; leave its tables "
                           "to another `ddu publish`.")
    ] = False,
    replace: Replace = False,
    runs: Runs = Path("runs"),
    store: StoreUrl = None,
) -> None:  # fmt: skip
    """Copy runs into the store, for the dashboards. Publishing a run again changes nothing."""
    url = locate(store)
    if live:
        _publish_live(url, paths, runs, replace, not no_tables)
        return
    if no_tables:
        raise typer.BadParameter("--no-tables is for --live")
    stored, failures = 0, []
    for path in paths or [newest_run(runs)]:
        for done in _published(url, path, replace):
            if isinstance(done, RefusedError):
                warn(error_text("ddu", str(done)))
                failures.append(done.exit_code)
            else:
                stored += 1
                rows = f", {done.rows} rows" if done.rows else ""
                typer.echo(f"{done.name}: {done.outcome}{rows}")
    if stored:
        typer.echo(
            "next: open the dashboards (`ddu store up --docker` starts Grafana), with ddu serve"
        )
    if failures:
        raise typer.Exit(1 if stored else min(failures))


def _published(url: str, path: Path, replace: bool) -> Iterator[Published | RefusedError]:
    from ddu.store.campaigns import is_campaign, publish_campaign
    from ddu.store.publish import publish as put

    try:
        if is_campaign(path):
            yield from publish_campaign(url, path, replace)
            return
        runs = runs_of([path])
    except RefusedError as error:
        yield error
        return
    for run in runs:
        try:
            yield put(url, run, replace)
        except RefusedError as error:
            yield error


def _publish_live(
    url: str, paths: list[Path] | None, runs: Path, replace: bool, tables: bool
) -> None:
    from ddu.store.campaigns import is_campaign
    from ddu.store.live import await_running, follow, publish_live

    if paths and len(paths) > 1:
        raise typer.BadParameter("--live follows one run, or one campaign")
    try:
        if paths and is_campaign(paths[0]):
            from ddu.store.following import follow_campaign

            if not tables:
                raise typer.BadParameter("--no-tables follows one run, not a campaign")
            published, refused = follow_campaign(url, paths[0], warn, replace)
            typer.echo(f"{paths[0]}: {published} runs published")
            if refused:
                raise typer.Exit(1)
            return
        if not paths:
            warn(f"waiting for a run in {runs}")
        path = paths[0] if paths else await_running(runs, time.time())
        if not tables:
            follow(url, path, warn, replace)
            return
        done = publish_live(url, path, warn, replace)
    except KeyboardInterrupt:
        warn("interrupted; what was shown stays until `ddu publish` stores the finished run")
        raise typer.Exit(130) from None
    typer.echo(f"{done.name}: {done.outcome}")


def unpublish(
    names: Annotated[list[str], typer.Argument(metavar="RUN…", help="Names of runs, or their "
                                               "directories.")],
    store: StoreUrl = None,
) -> None:  # fmt: skip
    """Remove runs from the store. Their directories stay."""
    from ddu.store.contents import stored_name
    from ddu.store.publish import unpublish as take

    take(locate(store), *map(stored_name, names))
    for name in names:
        typer.echo(f"{name}: removed from the store")


def serve(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of runs, or a run (default: that of --runs).")
    ] = None,
    runs: Runs = Path("runs"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port.")] = 8090,
    bind: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
) -> None:
    """Serve reports and files of runs over HTTP, with a page that lists the runs.

    The dashboards' links lead there.
    """
    from ddu.serve import server

    served, page = folder or runs, ""
    if (served / "run.json").exists():
        served, page = served.resolve().parent, f"runs/{quote(served.resolve().name)}/report.html"
    with server(served, bind, port) as serving:
        typer.echo(f"http://{authority(bind, port)}/{page} serves {served}; stop with Ctrl-C")
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            return


def _place(directory: Path | None) -> StoreDirectory:
    return StoreDirectory((directory or default_directory()).absolute())


@store_app.command()
def up(
    directory: Directory = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="TCP port of PostgreSQL (default: as before, or 15432)."
        ),
    ] = None,
    bind: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on (default: as before, or 127.0.0.1)."
        ),
    ] = None,
    docker: Annotated[
        bool, typer.Option("--docker", help="Run PostgreSQL and Grafana in containers.")
    ] = False,
    grafana_port: Annotated[
        int, typer.Option(min=1, max=65535, help="With --docker: Grafana's TCP port.")
    ] = 3000,
) -> None:
    """Start the store, and create it first if it does not exist.

    Without --docker it runs on the distribution's PostgreSQL.
    """
    from ddu.store.service import up as bring_up

    place = _place(directory)
    address = place.wanted("docker" if docker else "private", bind, port)
    done = bring_up(place, address, grafana_port)
    for name in done.migrations:
        typer.echo(f"schema: {name}")
    typer.echo(f"store: PostgreSQL on {address.host}:{address.port}, kept in {place.directory}")
    if docker:
        typer.echo(f"Grafana: http://{address.host}:{grafana_port}")
    for whose, password in done.new_passwords.items():
        if whose == "owner" or (whose == "reader" and not docker):
            role = "ddu" if whose == "owner" else READER
            typer.echo(f"password of {role}, shown only once: {password}")
        elif whose == "grafana-admin" and docker:
            typer.echo(f"password of Grafana's admin, shown only once: {password}")
    typer.echo(f"passwords are kept in {place.directory / 'secrets'}")
    typer.echo("next: ddu publish runs/")


@store_app.command()
def down(directory: Directory = None) -> None:
    """Stop the store. Its contents stay."""
    from ddu.store.service import down as bring_down

    place = _place(directory)
    typer.echo("store: stopped" if bring_down(place) else "store: was not running")


@store_app.command()
def status(directory: Directory = None, store: StoreUrl = None) -> None:
    """Print the store's address and contents."""
    from ddu.store.connect import described
    from ddu.store.service import status as ask

    url = store or (StoreDirectory(directory.absolute()).url() if directory else locate(None))
    if not store:  # First: a store that refuses a password is why one looks for it.
        typer.echo(f"passwords: {(directory or default_directory()) / 'secrets'}")
    contents = ask(url)
    typer.echo(f"{described(url)}: {contents['server']}")
    if contents["schema"] != contents["schema_known"]:
        typer.echo(f"schema: version {contents['schema']}; this ddu has {contents['schema_known']}")
    if "runs" in contents:
        live = f" {contents['live']} of them in progress," if contents["live"] else ""
        typer.echo(f"{contents['runs']} runs,{live} {contents['size']}")


@store_app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Output file; replaced if it exists.")],
    directory: Directory = None,
) -> None:
    """Write the whole store to a file."""
    from ddu.store.backup import backup as write

    size = write(_place(directory), file)
    typer.echo(f"{file}: {size / 1e6:.1f} MB")


@store_app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="File that `ddu store backup` wrote.")],
    directory: Directory = None,
    replace: Annotated[bool, typer.Option(help="Replace the runs that the store holds.")] = False,
) -> None:
    """Replace the contents of the store with a backup."""
    from ddu.store.backup import restore as read

    read(_place(directory), file, replace)
    typer.echo(f"{file}: restored")
