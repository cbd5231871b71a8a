# SPDX-License-Identifier: Apache-2.0
"""Measure how long after a sample is in its file Live can show it, with a growing run directory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from ddu.store.directory import StoreDirectory

SAMPLES, EVERY_S = 40, 0.13
"""The interval is not a multiple of the follower's own interval."""


def seconds_until_seen(place: StoreDirectory, scratch: Path) -> list[float]:
    """Return the time from writing to reading in the store, for each sample."""
    run = scratch / "growing"
    (run / "raw").mkdir(parents=True)
    experiment = {"cc": "cubic", "direction": "dl"}
    content = {"schema_version": 1, "run": "growing", "status": "running", "experiment": experiment}
    (run / "run.json").write_text(json.dumps(content | {"mac": {"file": "raw/mac.csv"}}))
    file = run / "raw" / "mac.csv"
    file.write_text("utc_ns,duration_ns,ue,mac_rsrp_dbm\n")
    follower = subprocess.Popen(
        [Path(sys.executable).parent / "ddu", "publish", "--live", run],
        env=os.environ | {"DDU_STORE": place.url()}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with psycopg.connect(place.url(), autocommit=True) as reader:
            _await(reader, "SELECT count(*) FROM testbed.run WHERE name = 'growing'", 1)
            taken = []
            for number in range(1, SAMPLES + 1):
                time.sleep(EVERY_S)
                with file.open("a") as stream:
                    stream.write(f"{time.time_ns()},10000000,0,-80\n")
                taken.append(_await(reader, "SELECT count(*) FROM testbed.live_radio", number))
            reader.execute("DELETE FROM testbed.run WHERE name = 'growing'")
            return taken
    finally:
        follower.send_signal(signal.SIGINT)
        follower.wait()


def _await(reader: psycopg.Connection, query: str, value: int) -> float:
    began = time.monotonic()
    while reader.execute(query.encode()).fetchone() != (value,):
        if time.monotonic() - began > 60:
            raise TimeoutError(query)
        time.sleep(0.005)
    return time.monotonic() - began
