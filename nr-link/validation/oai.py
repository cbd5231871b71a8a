#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's MAC against nr-link with the profile oai-2026.w11, in radio time.

Usage: nr-link/validation/oai.py [--profile NAME] [--rtt FILE:PRB]… RUN-DIRECTORY…
       after `ccu run --testbed rfsim --traffic udp:RATE …` with a rate above the link's, so that
       its queue is always full, and `cargo build --release -p nr-link-model --example saturate`

A run's figures come from what the gNB printed, with the time of its frames: how fast rfsim ran does
not matter. nr-link gets the channel that the run had set, at the same radio time. FILE has a line
for each round trip of an idle link, in ms of radio time.

Prints Markdown tables: new blocks per second, bytes per block, retransmissions, MAC rate, the
distribution of MCS and what part of the two distributions overlaps; and idle round trips.

The MCS is taken from the lines of link adaptation (`frame … MCS … -> …`, once a window of 10
frames), if the gNB printed them, and else from its reports (once in 128 frames).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ccu.scenarios.oai_channel_model import Setting, sinr_db
from ddu.readers.oai.mac import read_mac_log

_SATURATE = Path(__file__).parents[2] / "target/release/examples/saturate"
_RSRP_DBM = -44.0
_FULL = 0.8
"""Share of the highest rate of transmissions from which a report's interval counts as full."""
_RAMP_S = 6.0
"""Radio time from the first full interval until the MCS has risen from 0 to 28, twice over."""
_LEAST_INTERVALS = 3
_LEAST_BLOCKS = 40
"""Transmissions of a window with a full queue, at least; the other direction has fewer."""
_REPORT = re.compile(r"Frame\.Slot (\d+)\.")
_WINDOW = re.compile(r"frame +(\d+) MCS (\d+) -> \d+ \(num_dl_sched (\d+), num_dl_retx (\d+)")


@dataclass(frozen=True)
class Mac:
    """The behaviour of a MAC with a full queue."""

    blocks_per_s: float
    bytes_per_block: float
    retransmission_ratio: float
    rate_mbps: float
    mcs: list[int]
    """The values of each interval of time, in order."""


@dataclass(frozen=True)
class Real:
    """A run of OpenAirInterface."""

    name: str
    prb: int
    direction: str
    mac: Mac
    channel: list[tuple[float, float]]
    """SINR in dB by radio time in s, from the start of the counted part on."""
    lasts_s: float


def mac_of(table: pd.DataFrame, rate: str) -> Mac:
    """Return the figures of a table with counters (`first`, `second`, `rate`) and `t_s`, `mcs`."""
    change = (
        table[["t_s", "first", "second", rate]].iloc[-1]
        - table.iloc[0][["t_s", "first", "second", rate]]
    )
    lasts_s, first = float(change["t_s"]), float(change["first"])
    return Mac(
        first / lasts_s,
        float(change[rate]) / first,
        float(change["second"]) / first,
        float(change[rate]) * 8 / lasts_s / 1e6,
        [int(mcs) for mcs in table["mcs"].iloc[1:].round()],
    )


def real(folder: Path) -> Real:
    """Read a run directory of testbed rfsim."""
    experiment = json.loads((folder / "run.json").read_text())["experiment"]
    direction = str(experiment["direction"])
    log = read_mac_log(folder / "raw/oai/gnb-stdout.log").table
    log = log[log["ue"] == log["ue"].iloc[-1]]
    table = pd.DataFrame(
        {
            "t_s": log["radio_ns"] / 1e9,
            "first": log[f"mac_{direction}_rounds_1_count"],
            "second": log[f"mac_{direction}_rounds_2_count"],
            "bytes": log[f"mac_{direction}_bytes"],
            "mcs": log[f"mac_{direction}_mcs"],
        }
    ).astype(float)
    full = _full_part(table)
    if len(full) <= _LEAST_INTERVALS:
        raise SystemExit(f"{folder}: {len(full)} intervals with a full queue are too few")
    from_s, until_s = float(full["t_s"].iloc[0]), float(full["t_s"].iloc[-1])
    mac = mac_of(full, "bytes")
    windows = _windows(folder / "raw/oai/gnb-stdout.log", from_s, until_s)
    if windows:
        mac = replace(mac, mcs=windows)
    channel = _channel(folder, from_s, until_s)
    return Real(
        folder.parent.name,
        int(experiment["prb"]),
        direction,
        mac,
        channel,
        until_s - from_s,
    )


def _windows(log: Path, from_s: float, until_s: float) -> list[int]:
    """Return the MCS of the windows of link adaptation between two times of the radio."""
    windows: list[int] = []
    report = wraps = 0
    for line in log.read_text(errors="replace").splitlines():
        if match := _REPORT.search(line):
            frame = int(match[1])
            wraps += frame < report
            report = frame
        elif match := _WINDOW.search(line):
            since = (int(match[1]) - report) % 1024
            now_s = (1024 * wraps + report + since) * 0.01
            blocks = int(match[3]) + int(match[4])
            if from_s < now_s <= until_s and blocks >= _LEAST_BLOCKS:
                windows.append(int(match[2]))
    return windows


def _full_part(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows between which the queue was full, after the MCS has risen."""
    transmissions = (table["first"] + table["second"]).diff() / table["t_s"].diff()
    full = transmissions > _FULL * transmissions.max()
    start_s = float(table["t_s"][full].iloc[0]) + _RAMP_S
    # The first row that is not full any more ends the part.
    after = table["t_s"][~full & (table["t_s"] > start_s)]
    end_s = float(after.iloc[0]) if len(after) else float("inf")
    return table[(table["t_s"] >= start_s) & (table["t_s"] < end_s)]


def _channel(folder: Path, from_s: float, until_s: float) -> list[tuple[float, float]]:
    """Return the SINR of the settings in a part of the run, by the time in that part."""
    settings = pd.read_csv(folder / "raw/oai/channel-dl.csv")
    before = settings[settings["radio_s"] <= from_s].tail(1)
    inside = settings[(settings["radio_s"] > from_s) & (settings["radio_s"] < until_s)]
    rows = pd.concat([before, inside])
    return [
        (max(row.radio_s - from_s, 0.0), sinr_db(Setting(row.ploss_db, row.noise_db)))
        for row in rows.itertuples()
    ]


def link_yaml(prb: int, profile: str, uplink_snr_db: float) -> dict[str, Any]:
    """Return nr-link's configuration. rfsim has no power control: the uplink has the SNR given."""
    return {
        "schema": "nr-link/1",
        "seed": 1,
        "mtu_bytes": 1500,
        "radio": {
            "carrier_ghz": 3.6,
            "numerology": 1,
            "prb": prb,
            "duplex": {
                "tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}
            },
            "gnb_profile": profile,
            "uplink": {"pcmax_dbm": 60.0, "target_snr_db": uplink_snr_db},
        },
        "scenario": "scenario.yaml",
        "path": {"dl": {"delay_ms": 0.0}, "ul": {"delay_ms": 0.0}},
        "queue": {"dl": {"packets": 3200}, "ul": {"packets": 3200}},
        "samples": {"interval_ms": 100},
        "devices": {"core": {"name": "n6"}, "ue": [{"name": "ue1"}]},
        "output": {"mac": "mac.csv", "link": "link.csv", "summary": "summary.json"},
    }


def saturate(
    prb: int, profile: str, channel: list[tuple[float, float]], words: list[str]
) -> pd.DataFrame:
    """Run nr-link's example `saturate` over a channel; return its table."""
    noise = [[round(t_s, 3), round(_RSRP_DBM - sinr, 2)] for t_s, sinr in _steps(channel)]
    scenario = {
        "schema": "rf-scenario/1",
        "name": "as-set",
        "summary": "The channel of a run over rfsim.",
        "sources": ["its settings"],
        "license": "Apache-2.0",
        "duration_s": max(noise[-1][0] + 1000.0, 1000.0),
        "at_end": "loop",
        "radio": {
            "ss_pbch_block_power_dbm": 0,
            "level": {"rsrp_dbm": _RSRP_DBM},
            "noise": {"floor_dbm_per_re": noise if len(noise) > 1 else noise[0][1]},
        },
    }
    mean_db = float(np.mean([sinr for _, sinr in channel]))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scenario.yaml").write_text(yaml.safe_dump(scenario))
        file = Path(folder, "link.yaml")
        file.write_text(yaml.safe_dump(link_yaml(prb, profile, mean_db)))
        out = Path(folder, "out.csv")
        with out.open("w") as stream:
            subprocess.run([_SATURATE, file, *words], stdout=stream, check=True)
        return pd.read_csv(out)


def _steps(channel: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of a channel that holds its value until the next setting."""
    points: list[tuple[float, float]] = []
    for t_s, sinr in channel:
        if points and points[-1][1] == sinr:
            continue
        if points and t_s - 0.001 > points[-1][0]:
            points.append((t_s - 0.001, points[-1][1]))
        points.append((t_s, sinr))
    return points


def emulated(run: Real, profile: str) -> Mac:
    """Return what nr-link does over the channel of a run: from the settled MCS on."""
    settling_s = 2 * _RAMP_S
    first_db = run.channel[0][1]
    shifted = [(t_s + settling_s, sinr) for t_s, sinr in run.channel]
    constant = len({sinr for _, sinr in run.channel}) == 1
    # A constant channel needs no particular part of time: long enough for the cycles of the MCS.
    lasts_s = 300.0 if constant else run.lasts_s + settling_s
    rate = str(2 * run.prb)
    table = saturate(
        run.prb,
        profile,
        [(0.0, first_db), *shifted],
        [run.direction, rate, str(lasts_s)],
    )
    table = table[table["t_s"] >= settling_s].dropna(subset=["mcs"])
    return mac_of(table, "scheduled_bytes" if run.direction == "dl" else "bytes")


def overlap(one: list[int], other: list[int]) -> float:
    """Return what two distributions have in common, 0 to 1."""
    these, those = Counter(one), Counter(other)
    return sum(
        min(these[mcs] / len(one), those[mcs] / len(other)) for mcs in these.keys() & those.keys()
    )


def halves(values: list[int]) -> float:
    """Return what the halves of a run have in common: no model can agree better with it."""
    middle = len(values) // 2
    return overlap(values[:middle], values[middle:])


def _span(mcs: list[int]) -> str:
    return f"{np.mean(mcs):.1f} ({min(mcs)} to {max(mcs)})"


def print_macs(runs: list[Real], profile: str) -> None:
    """Print the table of full queues."""
    print(
        "| run | PRB | direction | SINR, dB | blocks/s: OAI | nr-link | bytes per block: OAI | "
        "nr-link | retransmissions, %: OAI | nr-link | MAC, Mbit/s: OAI | nr-link | difference, % "
        "| MCS: OAI | nr-link | overlap | overlap of OAI's halves | intervals |"
    )
    print("|" + "---|" * 18)
    for run in runs:
        mine, his = emulated(run, profile), run.mac
        levels = [sinr for _, sinr in run.channel]
        level = (
            f"{levels[0]:.1f}"
            if len(set(levels)) == 1
            else f"{min(levels):.0f} to {max(levels):.0f}"
        )
        cells = [
            run.name,
            run.prb,
            run.direction,
            level,
            f"{his.blocks_per_s:.0f}",
            f"{mine.blocks_per_s:.0f}",
            f"{his.bytes_per_block:.0f}",
            f"{mine.bytes_per_block:.0f}",
            f"{100 * his.retransmission_ratio:.1f}",
            f"{100 * mine.retransmission_ratio:.1f}",
            f"{his.rate_mbps:.2f}",
            f"{mine.rate_mbps:.2f}",
            f"{100 * (mine.rate_mbps / his.rate_mbps - 1):+.1f}",
            _span(his.mcs),
            _span(mine.mcs),
            f"{overlap(his.mcs, mine.mcs):.2f}",
            f"{halves(his.mcs):.2f}",
            len(his.mcs),
        ]
        print("| " + " | ".join(map(str, cells)) + " |")


def print_rtts(files: list[str], profile: str) -> None:
    """Print the table of idle round trips."""
    print("| PRB | | n | min, ms | mean | median | p99 |\n|---|---|---|---|---|---|---|")
    for one in files:
        name, prb = one.rsplit(":", 1)
        mine = saturate(int(prb), profile, [(0.0, 26.0)], ["ping", "103.17", "400"])["rtt_ms"]
        for whose, values in (("OAI", np.loadtxt(name)), ("nr-link", mine.to_numpy())):
            p50, p99 = np.percentile(values, [50, 99])
            print(
                f"| {prb} | {whose} | {len(values)} | {values.min():.1f} | {values.mean():.1f} | "
                f"{p50:.1f} | {p99:.1f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN-DIRECTORY")
    parser.add_argument("--profile", default="oai-2026.w11", help="nr-link's gnb_profile")
    parser.add_argument("--rtt", action="append", default=[], metavar="FILE:PRB")
    arguments = parser.parse_args()
    if arguments.runs:
        print_macs([real(folder) for folder in arguments.runs], arguments.profile)
    if arguments.rtt:
        print_rtts(arguments.rtt, arguments.profile)


if __name__ == "__main__":
    main()
