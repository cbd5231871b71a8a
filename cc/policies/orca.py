# SPDX-License-Identifier: Apache-2.0
"""Orca (Abbasloo, Yen and Chao, SIGCOMM 2020), after the paper, with weights of our own training.

CUBIC sets the window at each report; each 20 ms a learned agent multiplies it by 2^(2a).
"""

from collections import deque
from pathlib import Path

from ccplane import network
from ccplane.cubic import Cubic
from ccplane.learned import orca
from ccplane.learned.interval import HISTORY, Monitor

PERIOD_MS = 5  # for CUBIC


class Orca:
    def __init__(self, weights: Path = Path("orca")):
        self.network = network.load(weights, orca.AGENT, orca.INPUTS, HISTORY)
        self.monitor, self.cubic = Monitor(), Cubic()
        blank = (0.0,) * len(orca.INPUTS)
        self.seen = deque([blank] * HISTORY, maxlen=HISTORY)

    def start(self, flow):
        flow.period_ms = PERIOD_MS

    def report(self, flow, report):
        self.cubic.report(report)
        if interval := self.monitor.report(report):
            self.seen.append(orca.state(interval))
            action = self.network.answer([one for state in self.seen for one in state])
            self.cubic.set(orca.window(self.cubic.cwnd, action))
        self.obey(flow)

    def state(self, flow, report):
        self.cubic.state(report)
        self.obey(flow)

    def obey(self, flow):
        flow.cwnd = self.cubic.cwnd
        flow.ssthresh = min(self.cubic.ssthresh, 1 << 20)
