# SPDX-License-Identifier: Apache-2.0
"""Explained delays in virtual time: the parts of every packet's delay add up to the captures'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ddu.report.delay_parts import delay_parts
from testsupport.explained import arguments, check
from testsupport.prepared import command
from testsupport.runs import Runs

TWO_UES = ("--cc", "cubic", "--ues", "2", "--prb", "24", "--scenario", "static", "--duration", "2s")


@pytest.mark.parametrize("seed", [7, 12, 18, 22])
def test_of_a_random_experiment_all_parts_add_up(kernel: Path, tmp_path: Path, seed: int) -> None:
    given = ("--testbed", "virtual", "--explain", *arguments(seed), "--output", str(tmp_path))
    ran = command("ccu", "run", *given)
    assert ran.returncode == 0, ran.stderr
    (run,) = tmp_path.iterdir()
    assert check(run) > 100


def test_explaining_changes_no_packet(experiments: Runs) -> None:
    plain, explained = experiments(*TWO_UES), experiments(*TWO_UES, "--explain")
    for file in ("sender.pcap", "receiver.pcap", "mac.csv"):
        assert (plain / "raw" / file).read_bytes() == (explained / "raw" / file).read_bytes()
    assert not (plain / "raw" / "delays.npy").exists()


def test_the_aligned_table_has_the_means_of_the_parts(experiments: Runs) -> None:
    run = experiments.analysed(*TWO_UES, "--explain")
    table = pd.read_parquet(run / "tables/aligned.parquet")
    packets = pd.read_parquet(run / "tables/delays.parquet")
    parts = [name for name in packets if name.startswith("delay_") and name != "delay_ns"]
    assert (packets[parts].sum(axis=1) == packets["delay_ns"]).all()
    for prefix in ("delay_", "delay_ack_"):
        names = [prefix + part.removeprefix("delay_").removesuffix("_ns") for part in parts]
        total = table[[f"{name}_ms" for name in names]].sum(axis=1, min_count=1)
        of_role = [one for one in table if one.startswith(prefix) and one != "delay_ack_wait_ms"]
        if prefix == "delay_":
            of_role = [one for one in of_role if not one.startswith("delay_ack_")]
        assert of_role == [f"{prefix}ms", *(f"{name}_ms" for name in names)]
        known = table[f"{prefix}ms"].notna()
        assert known.sum() > 100
        np.testing.assert_allclose(total[known], table[f"{prefix}ms"][known], rtol=1e-9)
    # A flow of one UE waits for its own packets and for the other UE.
    means = table.mean(numeric_only=True)
    assert means["delay_queue_ms"] > 5
    assert means["delay_priority_ms"] > 0
    assert means["delay_path_ms"] == pytest.approx(10)
    assert means["delay_ack_grant_ms"] > 0
    stacked = delay_parts(table)
    assert [series.kind for series in stacked.plots[1].series].count("area") > 3


def test_explain_says_what_happened(experiments: Runs) -> None:
    run = experiments.analysed(*TWO_UES, "--explain")
    packets = pd.read_parquet(run / "tables/delays.parquet")
    said = command("ddu", "explain", str(run), "--worst", "2").stdout
    longest = packets.loc[packets["delay_ns"].idxmax()]
    assert f"{longest['delay_ns'] / 1e6:.6f} ms one way" in said
    assert f"frame {longest['sent_frame']} at the sender" in said
    rows = np.load(run / "raw" / "delays.npy")
    own = rows[(rows["sent_frame"] == longest["sent_frame"]) & (rows["direction"] == 0)][0]
    reached_utc_ns = own["entered_utc_ns"] + own["delay_line_ns"] + own["delay_path_ns"]
    same_queue = (rows["ue"] == own["ue"]) & (rows["direction"] == 0)
    before = same_queue & (rows["sent_frame"] < own["sent_frame"])
    waiting = rows[before & (rows["left_utc_ns"] > reached_utc_ns)]
    assert f"behind others in the RLC queue: {len(waiting)} packets, " in said
    at = command("ddu", "explain", str(run), "--at", "1.5s").stdout
    assert at.startswith("1.4") or at.startswith("1.5")
    assert command("ddu", "explain", str(run), "--at", "1500ms").stdout == at


def test_an_instant_after_the_run_is_refused(experiments: Runs) -> None:
    """It printed the last packets without a word."""
    run = experiments.analysed(*TWO_UES, "--explain")
    last_s = pd.read_parquet(run / "tables/delays.parquet")["t_s"].max()
    ran = command("ddu", "explain", str(run), "--at", "500s")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"500 s is after the run's last packet, of {last_s:.3f} s" in ran.stderr


@pytest.mark.parametrize("instant", ["soon", "1.5"])
def test_an_instant_without_a_unit_is_refused(instant: str) -> None:
    ran = command("ddu", "explain", ".", "--at", instant)
    assert ran.returncode == 2
    assert f"{instant!r} is not a quantity with a unit" in " ".join(ran.stderr.split())


def test_a_run_without_explained_delays_is_refused(experiments: Runs) -> None:
    ran = command("ddu", "explain", str(experiments.analysed(*TWO_UES)))
    assert ran.returncode == 2
    assert "ccu run --explain" in ran.stderr
