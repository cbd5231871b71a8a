# SPDX-License-Identifier: Apache-2.0
"""What radio time against wall time says of a run."""

from __future__ import annotations

from ccu.testbeds.oai.radio_clock import RadioClock

# Within this of real time a second of TCP is a second of radio.
_TOLERANCE = 0.05
_STANDSTILL = 0.05


def real_time_verdict(clock: RadioClock | None) -> tuple[str, list[str]]:
    """The verdict and its reasons; None is a radio that keeps real time by itself."""
    if clock is None:
        return "valid", []
    mean = clock.mean_ratio()
    if mean is None:
        return "degraded", ["the radio's time was not read: the real-time factor is not known"]
    if mean < _STANDSTILL:
        return "invalid", [f"the radio stood almost still: {mean:.3f} s of radio a second"]
    if abs(mean - 1) <= _TOLERANCE:
        return "valid", []
    slowest = min(ratio for *_, ratio in clock.ratios)
    fastest = max(ratio for *_, ratio in clock.ratios)
    return "degraded", [
        f"rfsim ran at {mean:.2f} of real time ({slowest:.2f} to {fastest:.2f}): "
        "rates and delays are those of this host, not of the carrier"
    ]
