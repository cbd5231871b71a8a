# SPDX-License-Identifier: GPL-2.0-only
"""Bind the C core and the bottleneck, built with the undefined-behaviour sanitizer."""

from __future__ import annotations

import ctypes as c
import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ONE_Q24 = 1 << 24

NO_NDE, NDE_MEAN, NO_PS, NO_CM, NO_AIMD, EWMA, STALE_RTT, JUMP_TO_4 = (1 << i for i in range(8))
MEAN_BASE, ONE_WAY, NDE_BOUNDED, CM_DRAIN, NEW_PATH = (1 << i for i in range(8, 13))
PROFILE_NR = MEAN_BASE | ONE_WAY | NDE_BOUNDED | CM_DRAIN
ALL_SWITCHES = (1 << 13) - 1
ACTIONS = ("none", "nde", "ps", "cm")


class Params(c.Structure):
    _fields_ = [(n, c.c_uint32) for n in ("dtt_us", "dtt_factor_q16", "switches", "seed")]


class Reminis(c.Structure):
    _fields_ = [
        *((n, c.c_uint64) for n in ("si_start_us", "rtt_sum_us", "cut_us", "mean_cwnd_q16")),
        *((n, c.c_uint32) for n in ("rtt_count", "min_rtt_us", "anchor_us", "delay_us")),
        ("mu_q24", c.c_int32),
        *((n, c.c_uint32) for n in ("cwnd_fraction_q16", "dtt_us", "flow", "draws")),
        *((n, c.c_uint32) for n in ("base_us", "floor_us", "floor_ticks", "reverse_us")),
        *((n, c.c_uint8) for n in ("peer_clock", "zone", "action", "has_cut", "stuck")),
    ]


class Sender(c.Structure):
    _fields_ = [
        ("now_us", c.c_uint64),
        *((n, c.c_uint32) for n in ("cwnd", "ssthresh", "cwnd_max", "random")),
        ("open", c.c_uint8),
        ("cwnd_limited", c.c_uint8),
    ]


class Decision(c.Structure):
    _fields_ = [
        ("gradient_q24", c.c_int64),
        ("mu_q24", c.c_int32),
        ("draw_q24", c.c_int32),
        *((n, c.c_uint32) for n in ("delay_us", "min_rtt_us", "base_us")),
        *((n, c.c_uint32) for n in ("dtt_us", "si_us", "samples")),
        *((n, c.c_uint32) for n in ("cwnd_before", "cwnd_after", "ssthresh_after")),
        ("zone", c.c_uint8),
        ("action", c.c_uint8),
    ]


class Scenario(c.Structure):
    _fields_ = [
        ("params", Params),
        *((n, c.c_uint32) for n in ("later_switches", "mrtt_us")),
        *((n, c.c_uint32) for n in ("initial_cwnd", "initial_ssthresh")),
        *((n, c.c_double) for n in ("rate_pps", "later_rate_pps")),
        *((n, c.c_uint64) for n in ("change_us", "ramp_us", "end_us")),
        *((n, c.c_uint64) for n in ("measure_from_us", "measure_to_us")),
        ("target_cwnd", c.c_uint32),
    ]


class Outcome(c.Structure):
    _fields_ = [
        *((n, c.c_double) for n in ("mean_queueing_us", "max_queueing_us", "utilisation")),
        ("p95_queueing_us", c.c_double),
        *((n, c.c_uint32) for n in ("intervals_to_target", "intervals")),
        *((n, c.c_uint32) for n in ("nde_count", "ps_count", "cm_count")),
    ]


def params(dtt_us: int = 0, factor: float = 1.5, switches: int = 0, seed: int = 1) -> Params:
    return Params(dtt_us, round(factor * 65536), switches, seed)


@cache
def library() -> c.CDLL:
    """Build and load the shared library in REMINIS_TEST_BUILD (set by `make -C kmod test`)."""
    build = Path(os.environ.get("REMINIS_TEST_BUILD", HERE.parent / "build"))
    build.mkdir(parents=True, exist_ok=True)
    target = build / f"libcore-{os.getpid()}.so"
    command = (
        "cc -O2 -g -Wall -Wextra -Werror -shared -fPIC"
        " -fsanitize=undefined -fno-sanitize-recover=all"
    )
    sources = [str(HERE / "core.c"), str(HERE / "bottleneck.c")]
    subprocess.run([*shlex.split(command), "-o", str(target), *sources], check=True)
    loaded = c.CDLL(str(target))
    target.unlink()
    loaded.core_exp2.restype = c.c_uint32
    loaded.core_sqrt.restype = c.c_uint32
    loaded.core_random.restype = c.c_uint32
    loaded.core_dtt.restype = c.c_uint32
    sizes = (c.c_uint32 * 4).in_dll(loaded, "core_sizes")
    mirrored = [c.sizeof(s) for s in (Params, Reminis, Sender, Decision)]
    assert list(sizes) == mirrored, f"the mirrors differ: {list(sizes)} in C, {mirrored} here"
    return loaded


class Flow:
    """One flow driven step by step: samples in, decisions out."""

    def __init__(self, settings: Params) -> None:
        self.params = settings
        self.state = Reminis()
        library().core_init(c.byref(self.state), 0)

    def ack(self, now_us: int, rtt_us: int, *, repairing: bool = False) -> bool:
        over: int = library().core_on_ack(
            c.byref(self.state), c.byref(self.params), c.c_uint64(now_us % 2**64),
            c.c_int32(rtt_us), c.c_int(repairing),
        )  # fmt: skip
        return bool(over)

    def restart(self, now_us: int) -> None:
        """Data leaves while nothing else is in flight."""
        library().core_on_restart(c.byref(self.state), c.c_uint64(now_us % 2**64))

    def timestamped_ack(self, now_us: int, rtt_us: int, peer_ms: int) -> bool:
        """An ACK with the peer's timestamp."""
        library().core_on_timestamp(
            c.byref(self.state), c.byref(self.params), c.c_uint64(now_us % 2**64),
            c.c_int32(rtt_us), c.c_uint32(peer_ms % 2**32),
        )  # fmt: skip
        return self.ack(now_us, rtt_us)

    def guard(
        self,
        now_us: int,
        cwnd: int,
        *,
        ssthresh: int = 1,
        cwnd_max: int = 2**32 - 1,
        random: int = 0,
        is_open: bool = True,
        cwnd_limited: bool = True,
    ) -> Decision:
        sender = Sender(now_us % 2**64, cwnd, ssthresh, cwnd_max, random, is_open, cwnd_limited)
        decision = Decision()
        library().core_guard(
            c.byref(self.state), c.byref(self.params), c.byref(sender), c.byref(decision)
        )
        return decision


def simulate(
    *,
    mrtt_us: int = 20_000,
    rate_pps: float,
    later_rate_pps: float | None = None,
    change_s: float = 0,
    ramp_s: float = 0,
    end_s: float,
    measure_s: tuple[float, float] = (0, 0),
    settings: Params,
    later_switches: int | None = None,
    initial_cwnd: int = 10,
    initial_ssthresh: int = 2**31 - 1,
    target_cwnd: int = 2**32 - 1,
) -> Outcome:
    """Simulate one flow over one bottleneck (bottleneck.c)."""
    later = rate_pps if later_rate_pps is None else later_rate_pps
    switches = settings.switches if later_switches is None else later_switches
    microseconds = [int(s * 1e6) for s in (change_s, ramp_s, end_s, *measure_s)]
    scenario = Scenario(
        settings,
        switches,
        mrtt_us,
        initial_cwnd,
        initial_ssthresh,
        rate_pps,
        later,
        *microseconds,
        target_cwnd,
    )
    outcome = Outcome()
    assert library().bottleneck_run(c.byref(scenario), c.byref(outcome)) == 0
    return outcome
