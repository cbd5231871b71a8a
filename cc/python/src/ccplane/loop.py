# SPDX-License-Identifier: Apache-2.0
"""Runs a policy: each report goes to the policy of its flow, what that sets to the kernel."""

from __future__ import annotations

import gc
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ccplane import abi
from ccplane.abi import Report
from ccplane.changes import Changes
from ccplane.flow import Flow
from ccplane.kernel import Kernel
from ccplane.policy_file import Policy
from ccplane.trace import Trace


@dataclass
class _Controlled:
    flow: Flow
    policy: Any
    written: deque[tuple[int, int]] = field(default_factory=deque)
    """Commands from the newest that a reported ACK found: number, and when all of it was there."""

    def overdue_ns(self, report: Report) -> int:
        """Return how long before the ACK of this report a command was there that has not been
        applied, though each ACK applies what it finds; 0: none."""
        while len(self.written) > 1 and self.written[1][1] < report.time_ns:
            self.written.popleft()
        if not self.written or report.event != abi.ACKS:
            return 0
        number, written_ns = self.written[0]
        return max(0, report.time_ns - written_ns) if report.applied < number else 0


class Loop:
    """All flows of one policy."""

    def __init__(
        self,
        policy: Policy,
        kernel: Kernel,
        trace: Trace | None,
        run_seed: int = 1,
        changes: Changes | None = None,
    ) -> None:
        self._policy, self._kernel, self._trace = policy, kernel, trace
        self._run_seed = run_seed
        self._changes = changes
        self._flows: dict[int, _Controlled] = {}

    def run(self) -> None:
        """Run until a signal's handler raises, or the policy does."""
        gc.freeze()
        gc.disable()  # A collection takes milliseconds.
        while True:
            for report in self._kernel.reports():
                # What has changed meanwhile holds for the report.
                for parameters in self._changes.new() if self._changes else ():
                    self._change(parameters)
                self._take(report)

    def _change(self, given: Mapping[str, str]) -> None:
        """Give every flow, and those to come, other values of parameters."""
        self._policy, values = self._policy.changed(given)
        for controlled in self._flows.values():
            controlled.policy.change(**values)

    def _take(self, report: Report) -> None:
        if report.event == abi.START:
            flow = Flow(report, self._policy.period_ms, self._run_seed)
            controlled = self._flows[report.flow_index] = _Controlled(flow, self._policy.make())
            if start := getattr(controlled.policy, "start", None):
                start(flow)
        else:
            known = self._flows.get(report.flow_index)
            if known is None or known.flow.generation != report.generation:
                return
            controlled = known
            self._decide(report, controlled)
        self._answer(report, controlled)

    def _decide(self, report: Report, controlled: _Controlled) -> None:
        flow, policy = controlled.flow, controlled.policy
        flow.mss = report.mss
        if report.event == abi.ACKS:
            policy.report(flow, report)
        elif report.event == abi.STATE:
            if state := getattr(policy, "state", None):
                state(flow, report)
        elif report.event == abi.UNDO:
            flow.cwnd = max(flow.cwnd, report.cwnd)
            if undo := getattr(policy, "undo", None):
                undo(flow, report)
        else:
            del self._flows[report.flow_index]
            if end := getattr(policy, "end", None):
                end(flow)

    def _answer(self, report: Report, controlled: _Controlled) -> None:
        flow = controlled.flow
        told_ns, refused = None, None
        overdue_ns = controlled.overdue_ns(report)
        if report.event != abi.END:
            refused = flow.refusal()
            if refused is None:
                if self._policy.think_ms:
                    time.sleep(self._policy.think_ms / 1000)
                asked_ns = report.time_ns if report.event == abi.ACKS else 0
                self._kernel.command(flow.index, flow.command(asked_ns))
                told_ns = time.monotonic_ns()
                controlled.written.append((flow.newest, told_ns))
            else:
                print(f"command refused: {refused}", file=sys.stderr)
        if self._trace:
            self._trace.add(report, flow, overdue_ns, told_ns, refused)
