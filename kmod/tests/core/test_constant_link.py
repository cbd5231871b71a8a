# SPDX-License-Identifier: GPL-2.0-only
"""Check what the paper proves and shows on simple links, in a packet simulation with the core.

Theorem 3.1 and appendix E: constant link, infinite buffer, DTT = 2 mRTT. Figures 3, 4, 5: steps.
"""

from __future__ import annotations

from math import exp, log
from statistics import fmean

import pytest

from ..core_binding import (
    NDE_MEAN,
    NO_AIMD,
    NO_CM,
    NO_NDE,
    NO_PS,
    PROFILE_NR,
    STALE_RTT,
    Outcome,
    params,
    simulate,
)

MRTT_US = 20_000
MBIT_PPS = 1e6 / 8 / 1500  # packets of 1500 bytes
SEEDS = range(1, 9)


def theorem_bound(bdp: float) -> float:
    """Return the bound of the mean queueing delay in units of q_th = mRTT (theorem 3.1)."""
    return 1 + log(2) / (1 + exp(-(log(4) - 1) / (2 * bdp)))


@pytest.mark.parametrize("switches", [0, PROFILE_NR], ids=["paper", "nr"])
@pytest.mark.parametrize("bdp", [20, 50, 100, 200, 500, 1000])
def test_theorem_3_1_bounds_the_queueing_delay(bdp: int, switches: int) -> None:
    runs = [
        simulate(
            rate_pps=bdp / MRTT_US * 1e6,
            end_s=60,
            measure_s=(20, 60),
            settings=params(factor=2, switches=switches, seed=seed),
        )
        for seed in SEEDS
    ]
    delay = fmean(r.mean_queueing_us for r in runs) / MRTT_US
    utilisation = fmean(r.utilisation for r in runs)
    bound = theorem_bound(bdp)
    print(f"BDP {bdp}: queueing {delay:.3f} mRTT, bound {bound:.3f}; utilisation {utilisation:.3f}")
    assert 0.1 < delay <= bound
    assert utilisation > 0.9


@pytest.mark.parametrize("profile", [0, PROFILE_NR], ids=["paper", "nr"])
@pytest.mark.parametrize("bdp", [20, 100, 500, 2000, 8000])
def test_e_1_bounds_the_start(bdp: int, profile: int) -> None:
    def intervals(switches: int, seed: int = 1, end_s: float = 3) -> int:
        outcome = simulate(
            rate_pps=bdp / MRTT_US * 1e6,
            end_s=end_s,  # no bound is longer than 0.9 s
            initial_cwnd=1,
            initial_ssthresh=1,
            target_cwnd=bdp,
            settings=params(factor=2, switches=switches, seed=seed),
        )
        assert outcome.intervals_to_target, "never reached"
        return int(outcome.intervals_to_target)

    mean = fmean(intervals(profile, seed) for seed in SEEDS)
    print(f"BDP {bdp}: {mean:.1f} SIs, bound {4 * log(3 * bdp):.1f}")
    assert 0 < mean <= 4 * log(3 * bdp)
    if bdp <= 500:  # without NDE the window grows by Reno's one segment per SI
        assert intervals(NO_NDE, end_s=0.021 * bdp + 3) == pytest.approx(bdp, rel=0.25)


def step(from_mbit: float, to_mbit: float, switches: int, seed: int, seconds: float) -> Outcome:
    """Simulate a step at 10 s, with blocks switched off just before, as in the paper."""
    return simulate(
        rate_pps=from_mbit * MBIT_PPS,
        later_rate_pps=to_mbit * MBIT_PPS,
        change_s=10,
        end_s=12 + seconds,
        measure_s=(10, 10 + seconds),
        settings=params(seed=seed),
        later_switches=switches,
    )


def mean_of(
    name: str, from_mbit: float, to_mbit: float, switches: int, seconds: float, seeds: int = 8
) -> float:
    return fmean(
        getattr(step(from_mbit, to_mbit, switches, seed, seconds), name)
        for seed in range(1, seeds + 1)
    )


def test_figure_3_exploration_takes_a_surge() -> None:
    """100 to 720 Mb/s, the first second: without NDE the window grows by one segment per SI.

    The paper's advantage of the draw over its mean is not reproduced: docs/reminis.md.
    """
    off = mean_of("utilisation", 100, 720, NO_NDE, 1)
    deterministic = mean_of("utilisation", 100, 720, NDE_MEAN, 1)
    drawn = mean_of("utilisation", 100, 720, 0, 1)
    print(f"utilisation: off {off:.3f}, mean {deterministic:.3f}, drawn {drawn:.3f}")
    assert off < 0.25
    assert min(drawn, deterministic) > 1.5 * off


def test_figure_4_slowdown_lowers_the_delay_of_a_small_step() -> None:
    """720 to 600 Mb/s, 2 s, PS alone compared with no block: the delay falls slightly.

    With CM on it does not fall; the paper's factor of 2.3 is never reached: docs/reminis.md.
    """
    on = mean_of("mean_queueing_us", 720, 600, NO_CM, 2, seeds=32)
    off = mean_of("mean_queueing_us", 720, 600, NO_CM | NO_PS, 2, seeds=32)
    print(f"mean queueing: PS {on / 1000:.2f} ms, nothing {off / 1000:.2f} ms")
    assert on < 0.99 * off


def test_figure_5_mitigation_is_needed_for_a_large_step() -> None:
    """720 to 100 Mb/s, 5 s: only CM drains the queue, which is 7 times too long after the step."""
    both = mean_of("mean_queueing_us", 720, 100, 0, 5)
    no_cm = mean_of("mean_queueing_us", 720, 100, NO_CM, 5)
    print(f"mean queueing: with CM {both / 1000:.1f} ms, without {no_cm / 1000:.1f} ms")
    assert both < MRTT_US
    assert no_cm > 5 * both


def test_cuts_on_stale_rtts_contradict_the_paper() -> None:
    """RTTs of data sent before a cut make CM cut again for the same queue.

    In figures 3 and 10a the flow fills the added capacity within a second. It does so here only if
    RTTs of data sent before a cut do not count.
    """
    now, before = (mean_of("utilisation", 100, 720, switches, 5) for switches in (0, STALE_RTT))
    print(f"utilisation: fresh RTTs {now:.3f}, stale RTTs {before:.3f}")
    assert now > 0.9
    assert before < 0.8 * now


def test_figure_11_aimd_adds_utilisation() -> None:
    """Without AIMD utilisation is lower: by 15 % in the paper, also on a constant link."""

    def utilisation(switches: int) -> float:
        return fmean(
            simulate(
                rate_pps=300 * MBIT_PPS,
                end_s=30,
                measure_s=(5, 30),
                settings=params(switches=switches, seed=seed),
            ).utilisation
            for seed in SEEDS
        )

    on, off = utilisation(0), utilisation(NO_AIMD)
    print(f"utilisation: AIMD {on:.3f}, no AIMD {off:.3f}")
    assert off < on


def test_the_same_seed_gives_the_same_run() -> None:
    first, second, other = (bytes(step(100, 720, 0, seed, 1)) for seed in (1, 1, 2))
    assert first == second != other
