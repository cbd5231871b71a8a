# SPDX-License-Identifier: Apache-2.0
"""DeepCC (Abbasloo, Yen and Chao, IEEE JSAC 39(1), 2021), after the paper, with weights of our own
training.

A congestion control sets the window; each 20 ms a learned agent caps it at 2^a windows, so that
the RTT stays below a target.
"""

from collections import deque
from math import inf
from pathlib import Path

from ccplane import network
from ccplane.cubic import Cubic, Reno
from ccplane.learned import deepcc
from ccplane.learned.interval import HISTORY, Monitor
from ccplane.problem import PolicyError

PERIOD_MS = 5  # for the congestion control below
BASES = {"cubic": Cubic, "reno": Reno}


class DeepCC:
    def __init__(self, target: float = 100.0, base: str = "cubic", weights: Path = Path("deepcc")):
        if not 1 <= target <= 10_000:
            raise PolicyError(
                f"target={target:g} is not an RTT of 1 to 10000 ms", "write target=100"
            )
        if base not in BASES:
            raise PolicyError(f"base={base} is not one of {', '.join(BASES)}", "write base=cubic")
        self.target_s = target / 1000
        self.network = network.load(weights, deepcc.AGENT, deepcc.INPUTS, HISTORY)
        self.monitor, self.base = Monitor(), BASES[base]()
        blank = (0.0,) * len(deepcc.INPUTS)
        self.seen = deque([blank] * HISTORY, maxlen=HISTORY)
        self.cap = inf

    def start(self, flow):
        flow.period_ms = PERIOD_MS

    def report(self, flow, report):
        self.base.report(report)
        if interval := self.monitor.report(report):
            self.seen.append(deepcc.state(interval, self.target_s))
            action = self.network.answer([one for state in self.seen for one in state])
            self.cap = deepcc.cap(self.base.cwnd, action)
        self.obey(flow)

    def state(self, flow, report):
        self.base.state(report)
        self.obey(flow)

    def undo(self, flow, _report):
        self.base.undo()
        self.obey(flow)

    def obey(self, flow):
        flow.cwnd = self.base.cwnd = min(self.base.cwnd, self.cap)
        flow.ssthresh = min(self.base.ssthresh, 1 << 20)
