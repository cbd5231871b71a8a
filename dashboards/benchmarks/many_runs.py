# SPDX-License-Identifier: Apache-2.0
"""Fill a store with as many runs as a year of work, by copying a real one with INSERT … SELECT."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from ddu.store.connect import Connection, connected
from ddu.store.directory import StoreDirectory

SECONDS = 100
BIN_NS = 20_000_000
SERIES = ("transport_sample", "radio_sample", "trust_sample", "cc_sample", "overview", "distribution",
          "moments", "flow", "part_cpu")  # fmt: skip
_CHUNK = 20


def lengthened(run: Path, to: Path) -> Path:
    """Copy the analysed run `run` to the new folder `to`, with its tables repeated to a length of 100 s."""
    (to / "tables").mkdir(parents=True)
    manifest = json.loads((run / "run.json").read_text())
    summary = json.loads((run / "summary.json").read_text())
    for record in (manifest, summary):
        record.pop("integrity", None)  # It has the digest of what the record was.
    (to / "run.json").write_text(json.dumps(manifest | {"run": "original"}))
    (to / "summary.json").write_text(json.dumps(summary | {"duration_s": float(SECONDS)}))
    (to / "raw").symlink_to((run / "raw").absolute())
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    bins = aligned["utc_ns"].nunique()
    start = int(aligned["utc_ns"].min())
    for file in (run / "tables").glob("*.parquet"):
        if file.stem not in ("aligned", "mac", "cc"):
            continue
        table = pd.read_parquet(file)
        span_ns = bins * BIN_NS
        inside = table[(table["utc_ns"] >= start) & (table["utc_ns"] < start + span_ns)]
        repeated = pd.concat([
            inside.assign(utc_ns=inside["utc_ns"] + number * span_ns)
            for number in range(SECONDS * 1_000_000_000 // span_ns + 1)
        ], ignore_index=True)  # fmt: skip
        repeated["t_s"] = (repeated["utc_ns"] - start) / 1e9
        repeated[repeated["t_s"] < SECONDS].to_parquet(to / "tables" / file.name)
    return to


def fill(place: StoreDirectory, runs: int) -> None:
    """Copy the store's run `original` until the store has `runs` runs."""
    with connected(place.url()) as connection:
        connection.execute("SET synchronous_commit = off")
        (original,) = connection.execute("SELECT run_id FROM testbed.run WHERE name = 'original'").fetchone() or (0,)
        (there,) = connection.execute("SELECT count(*) FROM testbed.run").fetchone() or (0,)
        while there < runs:
            new = _copy_rows_of_run(connection, original, min(_CHUNK, runs - there), there)
            for table in SERIES:
                _copy_rows(connection, table, original, new)
            connection.commit()
            there += len(new)
            print(f"\r{there} of {runs} runs", end="", flush=True)
        print()
    import psycopg

    with psycopg.connect(place.url(), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _copy_rows_of_run(connection: Connection, original: int, count: int, first: int) -> list[int]:
    """Insert runs of five congestion controls, four bandwidths, three scenarios and ten campaigns."""
    columns = _columns(connection, "run", ("run_id",))
    changed = {
        "name": "'copy ' || n",
        "cc": "(ARRAY['reminis', 'cubic', 'bbr', 'reno', 'vegas'])[1 + n %% 5]",
        "prb": "(ARRAY[24, 51, 106, 273])[1 + n %% 4]",
        "scenario": "(ARRAY['rome-moderate', 'highway', 'static'])[1 + n %% 3]",
        "campaign": "'campaign ' || n / 100",
        "verdict": "(ARRAY['valid', 'valid', 'valid', 'degraded', 'invalid'])[1 + n %% 5]",
        "throughput_bps": "throughput_bps * (1 + (n %% 17) / 100.0)",
        "started": "started - n * interval '10 minutes'",
    }
    rows = connection.execute(
        f"INSERT INTO testbed.run ({', '.join(columns)}) "
        f"SELECT {', '.join(changed.get(column, column) for column in columns)} "
        "FROM testbed.run, generate_series(%s::int, %s::int) AS n WHERE run_id = %s "
        "RETURNING run_id".encode(),
        [first, first + count - 1, original],
    ).fetchall()
    return [row[0] for row in rows]


def _copy_rows(connection: Connection, table: str, original: int, new: list[int]) -> None:
    """Copy run by run, as when publishing, so that the rows of a run are stored together."""
    columns = ", ".join(_columns(connection, table, ("run_id",)))
    for run_id in new:
        connection.execute(
            f"INSERT INTO testbed.{table} (run_id, {columns}) SELECT %s, {columns} "
            f"FROM testbed.{table} WHERE run_id = %s".encode(),
            [run_id, original],
        )


def _columns(connection: Connection, table: str, without: tuple[str, ...]) -> list[str]:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
        "ORDER BY attnum",
        [f"testbed.{table}"],
    ).fetchall()
    return [row[0] for row in rows if row[0] not in without]
