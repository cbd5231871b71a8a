# SPDX-License-Identifier: Apache-2.0
"""One change at an instant: all before is the same to the bit, and the difference is the effect."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from testsupport.prepared import command
from testsupport.runs import Runs, json_of

ROOT = Path(__file__).parents[2]
AT_S = 1.5
BASE = ("--cc", "cubic", "--dl", "--prb", "24", "--scenario", "static", "--duration", "3s")
_GLOBAL_HEADER_BYTES = 24
_RECORD_HEADER_BYTES = 16


def packets(capture: Path) -> list[tuple[int, bytes]]:
    """Return the records of a pcap with nanoseconds: times and captured bytes."""
    content, at, records = capture.read_bytes(), _GLOBAL_HEADER_BYTES, []
    while at < len(content):
        words = memoryview(content[at : at + _RECORD_HEADER_BYTES]).cast("I")
        begin = at + _RECORD_HEADER_BYTES
        records.append((words[0] * 10**9 + words[1], content[begin : begin + words[2]]))
        at = begin + words[2]
    return records


def split(run: Path) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
    """Return the packets of both hosts before the instant, and from it on."""
    start_ns = json_of(run / "run.json")["time"]["traffic_start_utc_ns"]
    both = [one for name in ("sender", "receiver") for one in packets(run / f"raw/{name}.pcap")]
    at_ns = start_ns + round(AT_S * 1e9)
    early = [one for one in both if one[0] < at_ns]
    return early, [one for one in both if one[0] >= at_ns]


@pytest.mark.parametrize(
    "change",
    [
        "cc=bbr",
        "cc=illinois",  # a BPF source: a module that is loaded at the instant
        "cc=aimd",
        "cc=guardian",  # a policy, which starts at the instant
        "buffer=50pkt",
        "prb=11",
        "aqm=codel",
        "rtt=60ms",
        "loss=2%",
    ],
)
def test_all_before_the_instant_is_the_same_to_the_bit(experiments: Runs, change: str) -> None:
    plain, changed = experiments(*BASE), experiments(*BASE, "--change", f"{AT_S}s:{change}")
    (before, after), (same, other) = split(plain), split(changed)
    assert len(before) > 500
    assert before == same
    assert after != other
    (said,) = json_of(changed / "run.json")["changes"]
    key, value = change.split("=")
    assert (said["at_s"], said["key"], said["value"]) == (AT_S, key, value)
    if key == "cc":
        assert said["cc_read_back"] == {"f0": value}


def test_the_socket_has_the_other_congestion_control_from_then_on(experiments: Runs) -> None:
    run = experiments.analysed(*BASE, "--change", f"{AT_S}s:cc=bbr")
    sockets = pd.read_parquet(run / "tables/sockets.parquet")
    (change,) = json_of(run / "summary.json")["changes"]
    early = sockets[sockets["t_s"] < change["t_s"]]
    late = sockets[sockets["t_s"] > change["t_s"] + 0.02]
    # Only BBR reports its own bandwidth estimate.
    assert early["bbr_bw_bytes_per_s"].isna().all()
    assert late["bbr_bw_bytes_per_s"].notna().any()


def test_a_longer_path_and_a_smaller_buffer_show_in_the_rtt(experiments: Runs) -> None:
    def least_ms(*change: str) -> float:
        table = experiments.table(*BASE, *change)
        return float(table[table["t_s"] > AT_S + 0.3]["tcp_rtt_ms"].min())

    def most_ms(*change: str) -> float:
        table = experiments.table(*BASE, *change)
        return float(table[table["t_s"] > AT_S + 1.2]["tcp_rtt_ms"].max())

    assert least_ms("--change", f"{AT_S}s:rtt=60ms") >= 60
    assert most_ms("--change", f"{AT_S}s:buffer=50pkt") < most_ms() / 2


def test_a_block_of_reminis_is_off_from_then_on(experiments: Runs) -> None:
    base = ("--cc", "reminis", *BASE[2:])
    changed = experiments(*base, "--change", f"{AT_S}s:cc_params.nde=off")
    assert split(experiments(*base))[0] == split(changed)[0]
    trace = pd.read_csv(changed / "raw/cc-reminis.csv")
    explores = trace[trace["action"] == "nde"]["utc_ns"]
    (said,) = json_of(changed / "run.json")["changes"]
    # A flow uses the new value from its next SI on.
    assert len(explores) > 5
    assert explores.max() <= said["utc_ns"] + 100_000_000


def test_a_policy_gets_other_parameters_while_it_runs(experiments: Runs) -> None:
    base = ("--cc", "guardian", *BASE[2:])
    arguments = (*base, "--change", f"{AT_S}s:cc_params.nde=off", "--change",
                 f"{AT_S}s:cc_params.cm=off")  # fmt: skip
    plain, changed = experiments(*base), experiments(*arguments)
    (before, after), (same, other) = split(plain), split(changed)
    assert before == same
    assert after != other


def test_both_runs_are_one_curve_that_parts(experiments: Runs, tmp_path: Path) -> None:
    base = experiments.analysed(*BASE)
    changed = experiments.analysed(*BASE, "--change", f"{AT_S}s:cc=bbr")
    ran = command("ddu", "compare", base, changed, "--to", tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "comparison.html").read_text()
    assert "Until then both are the same, value by value" in page
    assert (tmp_path / "figures/parting-0.svg").read_text().count("cc=bbr") == 2
    assert "cubic, 1.5s:cc=bbr" in (tmp_path / "groups.csv").read_text()
