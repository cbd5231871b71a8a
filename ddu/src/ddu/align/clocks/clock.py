# SPDX-License-Identifier: Apache-2.0
"""A host's clock, and how its instants become those of the run's clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddu.schema.arrays import Int


@dataclass(frozen=True)
class Clock:
    """A clock that is ahead of the run's by `offset_ns` at `at_utc_ns`, and drifts by `skew`.

    `at_utc_ns` is on this clock; a skew of 10⁻⁶ (1 ppm) makes it gain 1 µs a second.
    """

    offset_ns: int = 0
    skew: float = 0.0
    at_utc_ns: int = 0

    def corrected(self, utc_ns: Int) -> Int:
        """Instants of this clock on the run's."""
        if not self.skew:
            return utc_ns - self.offset_ns if self.offset_ns else utc_ns
        # Relative to an instant near by: float64 then keeps nanoseconds.
        gained = np.rint((utc_ns - self.at_utc_ns) * self.skew).astype(np.int64)
        corrected: Int = utc_ns - self.offset_ns - gained
        return corrected


RUN_CLOCK = Clock()
"""A clock that needs no correction."""
