# SPDX-License-Identifier: GPL-2.0-only
"""Repeat a flow's trace with the core on this host, decision by decision.

The trace has what the Guardian measured in each SI and what it decided. It does not say whether the
flow was in slow start, in the open state, and limited by its window: a row agrees if one of these
senders explains it. In real time, where a sender may have to wait for the processor, it may also
have been idle before the SI.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from .core_binding import ACTIONS, MEAN_BASE, Decision, Flow, Params, Reminis, library

FLOWS_TRIED = 16
IN_CONGESTION_AVOIDANCE: dict[str, Any] = {}
NOT_LIMITED_OR_NOT_OPEN: dict[str, Any] = {"cwnd_limited": False}
IN_SLOW_START: dict[str, Any] = {"ssthresh": 2**31 - 1}
SENDERS = (IN_CONGESTION_AVOIDANCE, NOT_LIMITED_OR_NOT_OPEN, IN_SLOW_START)

Row = dict[str, str]


def flows_of(trace: Path) -> dict[tuple[int, int], list[Row]]:
    """The rows of each flow of a trace, by local and remote port."""
    flows: dict[tuple[int, int], list[Row]] = {}
    with trace.open() as file:
        for row in csv.DictReader(file):
            flows.setdefault((int(row["sport"]), int(row["dport"])), []).append(row)
    return flows


def agreeing_rows(
    rows: list[Row], settings: Params, own_dtt_us: int = 0, *, real_time: bool = False
) -> int:
    """Return the number of rows, from the first one on, that are the core's decisions.

    The number of the flow, which determines its draws, is not in the trace: the best one counts.
    """
    numbers = range(FLOWS_TRIED)
    return max(_agreeing_rows(rows, settings, one, own_dtt_us, real_time) for one in numbers)


def _agreeing_rows(
    rows: list[Row], settings: Params, number: int, own_dtt_us: int, real_time: bool
) -> int:
    flow = Flow(settings)
    flow.state.flow, flow.state.dtt_us = number, own_dtt_us
    for agreed, row in enumerate(rows):
        before = flow.state
        state = _explained(flow, row)
        if state is None and real_time:
            before.delay_us = 0  # As reminis_on_restart() leaves it.
            flow.state = before
            state = _explained(flow, row)
        if state is None:
            return agreed
        flow.state = state
    return len(rows)


def _explained(flow: Flow, row: Row) -> Reminis | None:
    """The state after the row, if the core decides as it says for one of the senders."""
    before = _after_the_samples(flow.state, row, flow.params.switches)
    now_us = before.si_start_us + int(row["si_us"])
    random = library().core_random(flow.params.seed, before.flow, before.draws)
    for sender in SENDERS:
        flow.state = Reminis.from_buffer_copy(before)
        decision = flow.guard(now_us, int(row["cwnd_before"]), random=random, **sender)
        if _as_traced(decision) == {name: row[name] for name in _as_traced(decision)}:
            return flow.state
    return None


def _after_the_samples(state: Reminis, row: Row, switches: int) -> Reminis:
    """The state at the end of the SI: its samples sum up to the mean that was traced."""
    filled = Reminis.from_buffer_copy(state)
    filled.min_rtt_us = int(row["min_rtt_us"])
    if not switches & MEAN_BASE:
        filled.base_us = filled.min_rtt_us
    filled.rtt_count = int(row["samples"])
    filled.rtt_sum_us = int(row["delay_us"]) * filled.rtt_count
    return filled


def _as_traced(decision: Decision) -> dict[str, str]:
    def q24(value: int) -> str:
        return f"{value / 2**24:.6f}"

    action = ACTIONS[decision.action]
    return {
        "zone": str(decision.zone),
        "action": action,
        "delay_us": str(decision.delay_us),
        "dtt_us": str(decision.dtt_us),
        "gradient": q24(decision.gradient_q24),
        "mu": q24(decision.mu_q24),
        "draw": q24(decision.draw_q24) if action == "nde" else "",
        "cwnd_after": str(decision.cwnd_after),
    }
