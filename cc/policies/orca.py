# SPDX-License-Identifier: Apache-2.0
"""Orca (Abbasloo, Yen and Chao, SIGCOMM 2020), after the paper, with weights of our own training.

CUBIC sets the window at each report; each 20 ms a learned agent multiplies it by 2^(2a). Weights of
the authors bring an agent that sees and does what theirs does (ccplane.learned.orca_published).
"""

from collections import deque
from functools import cache
from pathlib import Path

from ccplane import network
from ccplane.cubic import Cubic
from ccplane.learned import orca, orca_published
from ccplane.learned.interval import HISTORY, Monitor

PERIOD_MS = 5  # for CUBIC


@cache  # one for all flows
def load(file):
    others = {orca_published.NAME: orca_published.SEEN}
    return network.load(file, orca.AGENT, orca.INPUTS, HISTORY, others)


class Agent:
    def __init__(self, answers):
        self.network, self.monitor = answers, Monitor()
        blank = (0.0,) * len(orca.INPUTS)
        self.seen = deque([blank] * HISTORY, maxlen=HISTORY)

    def start(self, flow):
        flow.period_ms = PERIOD_MS

    def act(self, flow, report, cubic):  # noqa: ARG002
        if interval := self.monitor.report(report):
            self.seen.append(orca.state(interval))
            action = self.network.answer([one for state in self.seen for one in state])
            cubic.set(orca.window(cubic.cwnd, action))


AGENTS = {network.OWN: Agent, orca_published.NAME: orca_published.Agent}


class Orca:
    def __init__(self, weights: Path = Path("orca")):
        answers = load(weights)
        self.agent, self.cubic = AGENTS[answers.state](answers), Cubic()

    def start(self, flow):
        self.agent.start(flow)

    def report(self, flow, report):
        self.cubic.report(report)
        self.agent.act(flow, report, self.cubic)
        self.obey(flow)

    def state(self, flow, report):
        self.cubic.state(report)
        self.obey(flow)

    def undo(self, flow, _report):
        self.cubic.undo()
        self.obey(flow)

    def obey(self, flow):
        flow.cwnd = self.cubic.cwnd
        flow.ssthresh = min(self.cubic.ssthresh, 1 << 20)
