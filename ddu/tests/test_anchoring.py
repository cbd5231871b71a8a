# SPDX-License-Identifier: Apache-2.0
"""Clocks of logs without UTC: found again when they are hidden, refused when they are of another
traffic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ddu.align.anchoring.anchor import by_file_time, by_zone
from ddu.align.anchoring.correlation import Traffic, by_correlation
from ddu.align.anchoring.mac import anchored_mac
from ddu.align.anchoring.traffic import RunTraffic
from ddu.readers.logs import LogTable
from ddu.readers.timestamps import DAY_NS
from ddu.run.manifest import Time

T0 = 1_795_282_920_000_000_000
HEADERS = 1.03


def traffic(seed: int, seconds: float = 60.0) -> Traffic:
    """A rate that wanders, as over a radio link, after 5 s of silence."""
    rng = np.random.default_rng(seed)
    steps = np.exp(np.cumsum(rng.normal(0, 0.15, int(seconds * 10))))
    rate = np.repeat(1e6 * steps / steps.mean(), 10)
    utc_ns = T0 + 5_000_000_000 + (np.arange(len(rate)) * 10_000_000)
    return Traffic(utc_ns, (rate * 0.01).astype(np.int64))


def reports(of: Traffic, offset_s: float, rate: float, period_s: float, noise: float, seed: int):
    """A gNB's counts of it: reports each `period_s` of its own clock."""
    rng = np.random.default_rng(seed)
    s = np.arange(0, 70 / rate, period_s)
    utc_ns = (T0 + (offset_s + rate * s) * 1e9).astype(np.int64)
    counted = np.interp(utc_ns, of.utc_ns, np.cumsum(of.size_bytes), left=0)
    counted = HEADERS * counted + rng.normal(0, noise, len(s)) + 7_000_000
    return (s * 1e9).astype(np.int64) + 12_800_000_000, counted, utc_ns


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("source", "rate"), [("uptime", 1.0), ("radio", 0.78), ("radio", 2.5)])
def test_a_hidden_clock_is_found_within_its_interval(source: str, rate: float, seed: int) -> None:
    of = traffic(seed)
    at_ns, counted, truth = reports(of, -2.3 + seed, rate, 1.28, 20_000, seed)
    anchor = by_correlation(source, at_ns, counted, of)
    assert anchor is not None
    error_ns = np.abs(anchor.utc_ns(at_ns) - truth)
    middle = error_ns[len(error_ns) // 2]
    assert middle <= anchor.uncertainty_ns
    assert anchor.uncertainty_ns < 1_000_000_000
    assert anchor.correlation is not None
    assert anchor.correlation > 0.9


@pytest.mark.parametrize("seed", range(6))
def test_a_log_of_another_run_is_refused(seed: int) -> None:
    at_ns, counted, _ = reports(traffic(seed + 100), 0.0, 1.0, 1.28, 20_000, seed)
    assert by_correlation("uptime", at_ns, counted, traffic(seed)) is None


def test_what_counts_nothing_is_refused() -> None:
    of = traffic(1)
    assert by_correlation("uptime", np.arange(20) * 10**9, np.full(20, 5.0), of) is None
    assert by_correlation("uptime", np.arange(3) * 10**9, np.arange(3.0), of) is None


@pytest.mark.parametrize("zone_min", [-480, -210, 0, 60, 240, 345, 765])
def test_the_zone_of_a_time_of_day(zone_min: int) -> None:
    zone_ns = zone_min * 60_000_000_000
    utc = T0 + np.arange(100) * 1_000_000_000
    of_day = (utc + zone_ns) % DAY_NS
    if (np.diff(of_day) < 0).any():
        pytest.skip("midnight in between")
    anchor = by_zone("time of day", of_day, T0 - 3_000_000_000, T0 + 103_000_000_000)
    assert anchor is not None
    assert (anchor.utc_ns(of_day) == utc).all()
    if -720 < zone_min <= 720:
        sign = "-" if zone_min < 0 else "+"
        assert f"UTC{sign}{abs(zone_min) // 60:02d}:{abs(zone_min) % 60:02d}" in anchor.method


def test_a_time_of_day_of_another_run_is_refused() -> None:
    of_day = (T0 + 5 * 60 * 10**9 + np.arange(100) * 10**9) % DAY_NS
    assert by_zone("time of day", of_day, T0, T0 + 60_000_000_000) is None


def test_the_files_time_is_a_last_resort_and_says_so() -> None:
    anchor = by_file_time("radio", 5_000_000_000, T0, 1_280_000_000)
    assert anchor.utc_ns(np.array([5_000_000_000])).tolist() == [T0]
    assert anchor.uncertainty_ns == 1_280_000_000


def test_a_log_of_times_of_day_goes_on_over_midnight() -> None:
    midnight = (T0 // DAY_NS + 1) * DAY_NS
    utc = midnight + np.arange(-10, 30) * 1_000_000_000
    table = pd.DataFrame({"of_day_ns": utc % DAY_NS, "ue": 0, "mac_rsrp_dbm": -80.0})
    table["utc_ns"] = pd.Series(pd.NA, index=table.index, dtype="Int64")
    log = LogTable(Path("walk.csv"), "drive-test", table)
    first, last = int(utc[0]), int(utc[-1])
    of = RunTraffic(first, last, "dl", lambda: traffic(1))
    anchored = anchored_mac(log, lambda _: pytest.fail("no clock is needed"), Time(), of)
    assert anchored.table is not None
    assert (anchored.table["utc_ns"].to_numpy() == utc[:-1]).all()
    assert set(anchored.table["duration_ns"]) == {1_000_000_000}
