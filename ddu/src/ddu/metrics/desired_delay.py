# SPDX-License-Identifier: Apache-2.0
"""D3: how far the delay is from the desired one (Reminis, section 5.5)."""

from __future__ import annotations

import numpy as np

from ddu.align.run import AlignedRun
from ddu.metrics.observe import ObservedFlow

DEFAULT_FACTOR = 1.5
"""DTT over the intrinsic RTT, in the paper and in Reminis without another setting."""


def desired_delay(run: AlignedRun, flow: ObservedFlow) -> dict[str, float | str | None]:
    """`d3_ratio`: mean RTT over the delay target threshold, and where that one is from.

    The flow's own congestion control's if its trace tells one (its median), else 1.5 times the
    least RTT that the flow saw, so that others can be held against the same yardstick.
    """
    none = {"dtt_ms": None, "dtt_source": None, "d3_ratio": None}
    rtt_ms = flow.rtt.value_ms
    if not len(rtt_ms):
        return dict(none)
    dtt_ms, source = _traced_ms(run, flow), "trace"
    if dtt_ms is None:
        dtt_ms, source = DEFAULT_FACTOR * float(rtt_ms.min()), "1.5 times the least RTT"
    return {"dtt_ms": dtt_ms, "dtt_source": source, "d3_ratio": float(rtt_ms.mean()) / dtt_ms}


def _traced_ms(run: AlignedRun, flow: ObservedFlow) -> float | None:
    trace = run.trace_of(flow.flow)
    if trace is None or "dtt_us" not in trace:
        return None
    own = trace["dtt_us"].to_numpy(dtype=np.float64)
    own = own[own > 0]
    return float(np.median(own)) / 1e3 if len(own) else None
