# SPDX-License-Identifier: Apache-2.0
"""The theorems of Reminis' paper, with the kernel module: the queue that it keeps, and its growth.

Its assumptions: a constant link, an infinite buffer, DTT = 2 mRTT (appendix E).
"""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from testsupport.runs import Runs

SURGE = Path(__file__).parents[1] / "scenarios" / "surge-5M-100M.yaml"
LINK_MBIT = 100
PACKET_BYTES = 1500
# One run shows both: 4 s at 5 Mbit/s make the window small, and then the link is 20 times faster.
ARGUMENTS = ("--cc", "reminis", "--cc-param", "dtt_factor=2", "--rtt", "20ms", "--scenario")
ARGUMENTS += (str(SURGE), "--buffer", "20000pkt", "--duration", "10s", "--seed")


def aligned(run: Path) -> pd.DataFrame:
    """Return the run's table in 20 ms bins; `since_s` counts from the surge."""
    table = pd.read_parquet(run / "tables" / "aligned.parquet")
    surge_s = table["t_s"][table["mac_dl_capacity_bps"] > 0.9e6 * LINK_MBIT].min()
    return table.assign(since_s=table["t_s"] - surge_s)


def bandwidth_delay_product(mrtt_s: float) -> float:
    return LINK_MBIT * 1e6 * mrtt_s / 8 / PACKET_BYTES


def theorem_3_1_bound(bdp: float) -> float:
    """Return the bound of the mean queueing delay, in units of q_th, which is mRTT."""
    return 1 + math.log(2) / (1 + math.exp(-(math.log(4) - 1) / (2 * bdp)))


def test_theorem_3_1_bounds_the_queue(experiments: Runs) -> None:
    """The RTTs are those of the packets, not the sender's own."""
    table = aligned(experiments.analysed(*ARGUMENTS, "1"))
    mrtt_ms = table["tcp_rtt_ms"].min()
    steady = table[table["since_s"] > 2]
    queueing_ms = steady["tcp_rtt_ms"].mean() - mrtt_ms
    bound = theorem_3_1_bound(bandwidth_delay_product(mrtt_ms / 1e3))
    used = steady["tcp_throughput_bps"].mean() / steady["mac_dl_capacity_bps"].mean()
    print(f"mRTT {mrtt_ms:.1f} ms, queueing {queueing_ms / mrtt_ms:.3f} mRTT, bound {bound:.3f}")
    print(f"utilisation {used:.3f}")
    assert 0.1 < queueing_ms / mrtt_ms <= bound
    assert used > 0.8


def test_e_1_bounds_the_sis_to_a_full_window(experiments: Runs) -> None:
    """It grows from far below in at most 4 ln(3 w₁) SIs, where Reno alone takes w₁ minus its
    start."""
    run = experiments.analysed(*ARGUMENTS, "1")
    table = aligned(run)
    surge_utc_ns = table["utc_ns"][table["since_s"] >= 0].iloc[0]
    trace = pd.read_csv(run / "raw" / "cc-reminis.csv")
    trace = trace[(trace["utc_ns"] >= surge_utc_ns) & (trace["sport"] == _data_port(trace))]
    full = bandwidth_delay_product(trace["min_rtt_us"].iloc[0] / 1e6)
    grown = trace["cwnd_after"] >= full
    assert trace["cwnd_before"].iloc[0] < full / 4, "the window was not small at the surge"
    assert grown.any(), "the window never became that of the link"
    intervals = int(grown.to_numpy().argmax()) + 1
    print(f"w₁ {full:.0f}: {intervals} SIs, bound {4 * math.log(3 * full):.1f}")
    assert intervals <= 4 * math.log(3 * full)


def _data_port(trace: pd.DataFrame) -> int:
    """Return the data port: iperf3's control connection has a trace as well, of a few SIs."""
    return int(trace["sport"].mode().iloc[0])
