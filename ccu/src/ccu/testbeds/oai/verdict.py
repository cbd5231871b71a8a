# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run by radio time against wall time."""

from __future__ import annotations

from ccu.testbeds.oai.radio_clock import RadioClock

# Within this tolerance, radio time counts as real time.
_TOLERANCE = 0.05
_STANDSTILL = 0.05


def real_time_verdict(clock: RadioClock | None) -> tuple[str, list[str]]:
    """Return the verdict and its reasons; None is the clock of a radio that keeps real time."""
    if clock is None:
        return "valid", []
    mean = clock.mean_ratio()
    if mean is None:
        return "degraded", ["the radio's time was not read: the real-time factor is unknown"]
    if mean < _STANDSTILL:
        return "invalid", [f"the radio stood almost still: {mean:.3f} s of radio time per second"]
    if abs(mean - 1) <= _TOLERANCE:
        return "valid", []
    slowest = min(ratio for *_, ratio in clock.ratios)
    fastest = max(ratio for *_, ratio in clock.ratios)
    return "degraded", [
        f"rfsim ran at {mean:.2f} of real time ({slowest:.2f} to {fastest:.2f}): "
        "rates and delays are those of this host, not of the carrier"
    ]
