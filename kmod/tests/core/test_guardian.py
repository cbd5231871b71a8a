# SPDX-License-Identifier: GPL-2.0-only
"""The Guardian beside the kernel (cc/policies/guardian.py) decides as the paper's equations do."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from ..paper import Paper

FILE = Path(__file__).parents[3] / "cc/policies/guardian.py"
MIN_RTT_US = 20_000
AT_ITS_MEAN = 0x7FFF_FFFF  # The draw whose quantile is 0.


def guardian(**parameters: object):
    """Return a Guardian after slow start that has seen the least RTT."""
    spec = importlib.util.spec_from_file_location("guardian", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.Guardian(nde="mean", **parameters)
    made.slow_start, made.min_us = False, float(MIN_RTT_US)
    return made


@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_the_factors_are_the_papers(factor: float) -> None:
    generator = random.Random(5)
    ours, paper = guardian(dtt_factor=factor), Paper(factor=factor)
    paper.sample(MIN_RTT_US)
    actions = set()
    for _ in range(2000):
        delay_us = generator.randrange(MIN_RTT_US, 3 * MIN_RTT_US)
        said = paper.decide([delay_us], MIN_RTT_US, AT_ITS_MEAN, cwnd=1000)
        actions.add(said.action)
        assert ours.factor(float(delay_us), MIN_RTT_US) == pytest.approx(said.factor, rel=1e-6)
    assert actions == {"cm", "ps", "nde", "none"}


def test_it_acts_each_20_ms_on_the_mean_rtt_of_them() -> None:
    ours = guardian(base="reno")
    flow = SimpleNamespace(cwnd=1000.0, period_ms=0)
    for at_ms in range(0, 25, 5):
        report = SimpleNamespace(
            rtt_min_us=MIN_RTT_US, losses=0, ca_state=0, cwnd_limited=True, acked=0, acks=10,
            rtt_avg_us=40_000 if at_ms < 20 else 60_000, time_ns=1 + int(at_ms * 1e6),
            prior_delivered=0, delivered=0, inflight=0, app_limited=False, delivered_ce=0,
        )  # fmt: skip
        assert flow.cwnd == 1000
        ours.report(flow, report)
    # 44 ms of 20 and DTT 30: half, times 2 to the power of 1 - 24/10.
    assert flow.cwnd == pytest.approx(1000 * 0.5 * 2 ** (1 - 2.4))


def test_an_idle_time_does_not_count_in_cubics_curve() -> None:
    def grown(idle_s: int) -> float:
        ours, flow = guardian(), SimpleNamespace(cwnd=100.0, period_ms=0)
        ours.base.after_loss(200.0)
        for n in range(200):
            waits = n == 100
            report = SimpleNamespace(
                rtt_min_us=MIN_RTT_US, losses=0, ca_state=0, cwnd_limited=True, acked=20, acks=0,
                rtt_us=MIN_RTT_US, rtt_avg_us=0, app_limited=waits,
                time_ns=int(1e9 + n * 5e6 + (n >= 100) * (idle_s * 1e9 + 15e6)),
                prior_delivered=0, delivered=0, inflight=0, delivered_ce=0,
            )  # fmt: skip
            ours.report(flow, report)
        return flow.cwnd

    assert grown(idle_s=10) == pytest.approx(grown(idle_s=0), rel=1e-3)


def test_parameters_that_it_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="base is cubic or reno"):
        guardian(base="vegas")
