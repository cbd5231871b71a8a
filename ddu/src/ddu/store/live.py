# SPDX-License-Identifier: Apache-2.0
"""Publishing a run while it runs: its raw files are followed as they grow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from psycopg import errors

from ddu.console.problems import RefusedError
from ddu.errors import StoreAway, StoreError, StoreRefused, UnreadableInput
from ddu.run.manifest import Manifest, read_manifest
from ddu.store.connect import Connection, connected
from ddu.store.contents import experiment_of, from_root, manifest_row
from ddu.store.copying import copy_table
from ddu.store.live_rows import Growth, radio_rows, socket_rows, trace_rows, trust_rows
from ddu.store.publish import Published, insert_run, lock_name, publish
from ddu.store.schema import migrate
from ddu.store.tails import CsvTail, SocketTail, Tail

LOOK_EVERY_S = 0.2
"""So that a row is in the store within a second, with room for a busy machine."""

_RETRY_S = 1.0
_LIVE_TABLES = ("live_socket", "live_radio", "live_trust", "live_cc")

Report = Callable[[str], None]
Rows = Callable[[pd.DataFrame, Growth], pd.DataFrame]


@dataclass
class Followed:
    """A file, the table of its rows, and the function that makes them."""

    tail: Tail
    table: str
    rows: Rows
    growth: Growth
    unreadable: bool = False


def publish_live(url: str, path: Path, report: Report, replace: bool = False) -> Published:
    """Follow the run at `path` until it ends, and then publish it as `publish` does.

    Raises RefusedError as `publish` does.
    """
    follow(url, path, report, replace)
    report("the run has ended; publishing its tables")
    return publish(url, path, replace)


def follow(
    url: str,
    path: Path,
    report: Report,
    replace: bool = False,
    stop: threading.Event | None = None,
) -> None:
    """Publish the run at `path` until it ends, or until `stop`; it stays in the store as a live
    run, with `replace` in place of a finished one of its name.

    While the store is away it is asked again every second; what was missed is read again from the
    files, so that nothing is lost or doubled. Raises StoreError when waiting does not help.
    """
    stop = stop or threading.Event()
    while read_manifest(path).status == "running" and not stop.is_set():
        try:
            _follow(url, path, report, replace, stop)
        except StoreError as error:
            if not isinstance(error, StoreAway) and not _row_went(error):
                raise
            report("trying again: " + str(error).replace("; nothing was changed", ""))
            stop.wait(_RETRY_S)


def _row_went(error: StoreError) -> bool:
    """The run was removed from the store while it ran; it is inserted again."""
    return isinstance(error.__cause__, errors.ForeignKeyViolation)


def await_running(runs: Path, since_s: float) -> Path:
    """Return the run under `runs` that is running; wait for the next one if there is none.

    `since_s` (UNIX time): a run that ended after this is taken too, as it may be a short one.
    """
    while True:
        for file in sorted(runs.glob("*/run.json"), reverse=True)[:5]:
            try:
                running = read_manifest(file.parent).status == "running"
            except RefusedError:
                continue
            if running or file.stat().st_mtime > since_s:
                return file.parent
        time.sleep(LOOK_EVERY_S)


def _follow(url: str, path: Path, report: Report, replace: bool, stop: threading.Event) -> None:
    with connected(url) as connection:
        migrate(connection)
        while not _is_only_follower(connection, path):
            connection.commit()
            if read_manifest(path).status != "running" or stop.wait(_RETRY_S):
                return
        if read_manifest(path).status != "running":
            return  # It ended while this follower waited for the other.
        # No waiting for the disk: were the server to die, all is read from the files again.
        connection.execute("SET synchronous_commit = off")
        run_id = _begin(connection, path, replace)
        connection.commit()
        report(f"following {path.name}")
        followed: dict[Path, Followed] = {}
        while True:
            manifest = read_manifest(path)
            _find_files(path / "raw", manifest, followed)
            if sum(_copy_new(connection, run_id, one, report) for one in followed.values()):
                connection.commit()
            if manifest.status != "running" or stop.wait(LOOK_EVERY_S):
                return


def _is_only_follower(connection: Connection, path: Path) -> bool:
    """Take the lock of who follows the run, until the connection ends; False if another has it."""
    name = manifest_row(read_manifest(path), from_root(path))["name"]
    row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 1))", [name])
    return bool((row.fetchone() or [False])[0])


def _begin(connection: Connection, path: Path, replace: bool = False) -> int:
    """Insert the run without live rows; every file is read from its beginning."""
    manifest = read_manifest(path)
    row = manifest_row(manifest, from_root(path))
    lock_name(connection, row["name"])
    known = connection.execute(
        "SELECT run_id, state FROM testbed.run WHERE name = %s", [row["name"]]
    ).fetchone()
    if known is not None and known[1] == "published" and replace:
        connection.execute("DELETE FROM testbed.run WHERE run_id = %s", [known[0]])
        known = None
    if known is None:
        return insert_run(connection, experiment_of(manifest), {**row, "state": "live"})
    if known[1] == "published":
        raise StoreRefused(
            "the store has a finished run of this name",
            "add --replace to replace it, or give the run another name",
            key=row["name"],
        )
    for table in _LIVE_TABLES:
        connection.execute(f"DELETE FROM testbed.{table} WHERE run_id = %s".encode(), [known[0]])
    return int(known[0])


def _find_files(raw: Path, manifest: Manifest, followed: dict[Path, Followed]) -> None:
    """Follow the files that the manifest names, and traces as soon as they appear."""
    wanted: dict[Path, tuple[type[Tail], str, Rows, list[str]]] = {}
    sockets = ["src", "sport", "dst", "dport"]
    for source in manifest.sockets:
        wanted[raw.parent / source.file] = (SocketTail, "live_socket", socket_rows, sockets)
    if manifest.mac and manifest.mac.file.endswith(".csv"):
        wanted[raw.parent / manifest.mac.file] = (CsvTail, "live_radio", radio_rows, ["ue"])
    if manifest.link and manifest.link.file.endswith(".csv"):
        wanted[raw.parent / manifest.link.file] = (CsvTail, "live_trust", trust_rows, [])
    for trace in raw.glob("cc-*.csv"):
        rows_of_trace = partial(trace_rows, trace.stem.removeprefix("cc-"))
        wanted[trace] = (CsvTail, "live_cc", rows_of_trace, [])
    for file, (tail, table, rows, key) in wanted.items():
        if file not in followed:
            followed[file] = Followed(tail(file), table, rows, Growth(key))


def _copy_new(connection: Connection, run_id: int, one: Followed, report: Report) -> int:
    """Copy new rows and return their number. An unreadable file is reported once and skipped."""
    if one.unreadable:
        return 0
    try:
        new = one.tail.new_rows()
    except UnreadableInput as error:
        one.unreadable = True
        report(f"not shown live: {error}")
        return 0
    if new is None:
        return 0
    return copy_table(connection, one.table, one.rows(new, one.growth), {"run_id": run_id})
