#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the congestion controls of Lin et al. over 802.11, with the models and the TCP of ns-3.

Usage: nr-link/validation/wifi.py      needs g++ and Debian's package libns3-dev

One station sends to a wired host, as in the source (figure 1b, section 4.4). The rates of 802.11
are those with which CUBIC alone comes nearest to the source's goodput (tables 12 and 13), and
802.11n's highest. Prints a Markdown table with a row for each rate and congestion control, and the
source's numbers beside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ns3 import build

from ddu import statistics

_LIBRARIES = [
    "applications",
    "internet",
    "network",
    "core",
    "point-to-point",
    "traffic-control",
    "wifi",
    "mobility",
    "propagation",
]
_SECONDS = 10
_SEEDS = range(1, 4)
# ns-3's BBR takes the wait of a delayed ACK for the path, as in ns3.py.
_PACKETS_PER_ACK = 1
_CCS = {
    "cubic": "Cubic",
    "newreno": "LinuxReno",
    "bbr": "Bbr",
    "westwood": "Westwood",
    "veno": "Veno",
}
_COLUMNS = ("goodput_mbps", "rtt_mean_ms", "ack_blocks_per_s", "acks_per_block")
_RATES = {
    ("n", "HtMcs12"): "802.11n, MCS 12",
    ("ac", "VhtMcs5"): "802.11ac, MCS 5",
    ("n", "HtMcs15"): "802.11n, MCS 15",
}
# Tables 12 and 13: throughput in Mbit/s, RTT in ms, blocks of ACKs per second, packets per block.
_OF_SOURCE = {
    ("n", "cubic"): (124.7, 23.2, 119.15, 5.12),
    ("n", "newreno"): (124.6, 17.8, 156.58, 4.52),
    ("n", "bbr"): (87.6, 7.2, 347.98, 1.21),
    ("n", "westwood"): (118.1, 18.0, 154.98, 4.56),
    ("n", "veno"): (111.1, 15.7, 159.12, 4.83),
    ("ac", "cubic"): (357.09, 8.61, 416.92, 11.17),
    ("ac", "newreno"): (346.68, 7.40, 426.25, 13.67),
    ("ac", "bbr"): (276.42, 4.44, 611.13, 6.00),
    ("ac", "westwood"): (342.16, 7.22, 440.22, 12.33),
    ("ac", "veno"): (338.13, 6.91, 409.12, 13.33),
}


def run(program: Path, rate: tuple[str, str], cc: str, seed: int) -> dict[str, float]:
    arguments = [_CCS[cc], *rate, _PACKETS_PER_ACK, _SECONDS, seed]
    said = subprocess.run([program, *map(str, arguments)], capture_output=True, check=True)
    measured: dict[str, float] = json.loads(said.stdout)
    return measured


def _mean(values: list[float]) -> str:
    interval = statistics.of_repeats(values)
    assert interval.high is not None
    return f"{interval.mean:.3g} ± {interval.high - interval.mean:.2g}"


def row(rate: tuple[str, str], cc: str, runs: list[dict[str, float]]) -> str:
    of_source = _OF_SOURCE[rate[0], cc]
    cells = [
        f"{_mean([run[column] for run in runs])} | {theirs:g}"
        for column, theirs in zip(_COLUMNS, of_source, strict=True)
    ]
    return f"| {_RATES[rate]} | {cc} | {' | '.join(cells)} |"


def main() -> None:
    print(
        "| radio | cc | goodput, Mbit/s: ns-3 | source | mean RTT, ms: ns-3 | source "
        "| ACK blocks/s: ns-3 | source | ACKs per block: ns-3 | source |"
    )
    print("|" + "---|" * 10)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        program = build(Path(name), "wifi_flow", _LIBRARIES)
        for rate in _RATES:
            for cc in _CCS:
                runs = pool.map(lambda seed, a=rate, b=cc: run(program, a, b, seed), _SEEDS)
                print(row(rate, cc, list(runs)), flush=True)


if __name__ == "__main__":
    main()
