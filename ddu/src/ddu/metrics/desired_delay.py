# SPDX-License-Identifier: Apache-2.0
"""D3: the ratio of the delay to the desired one (docs/metrics.md)."""

from __future__ import annotations

import numpy as np
from pandas.api.types import is_numeric_dtype

from ddu.metrics.views import FlowView

DEFAULT_FACTOR = 1.5
"""The default of the DTT over the intrinsic RTT."""


def desired_delay(view: FlowView) -> dict[str, float | str | None]:
    """Return the mean RTT over the delay target threshold, the threshold and its source.

    The threshold is the median of the congestion control's trace if that has one, else 1.5 times
    the least RTT of the flow, so that all congestion controls are compared by the same yardstick.
    """
    rtt_ms = view.flow.rtt.value_ms
    if not len(rtt_ms) or not rtt_ms.min():  # none, or as the receiver's host sees it
        return {"dtt_ms": None, "dtt_source": None, "d3_ratio": None}
    dtt_ms, source = _traced_ms(view), "trace"
    if dtt_ms is None:
        dtt_ms, source = DEFAULT_FACTOR * float(rtt_ms.min()), "1.5 times the least RTT"
    return {"dtt_ms": dtt_ms, "dtt_source": source, "d3_ratio": float(rtt_ms.mean()) / dtt_ms}


def _traced_ms(view: FlowView) -> float | None:
    trace = view.run.trace_of(view.flow.flow)
    if trace is None or "dtt_us" not in trace:
        return None
    if not is_numeric_dtype(trace["dtt_us"]):  # A trace may have words anywhere.
        return None
    own = trace["dtt_us"].to_numpy(dtype=np.float64)
    own = own[own > 0]
    return float(np.median(own)) / 1e3 if len(own) else None
