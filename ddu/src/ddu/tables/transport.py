# SPDX-License-Identifier: Apache-2.0
"""The transport table: the metrics of the captures, per bin and flow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.align.bins import Bins
from ddu.flows.observe import ObservedFlow
from ddu.metrics.catalogue import bin_metrics
from ddu.metrics.metric import OnBins


def grid(flows: Sequence[ObservedFlow], width_ns: int) -> Bins:
    """Return bins from the first payload packet of the run to its last, in either capture."""
    first = min(flow.first_utc_ns for flow in flows)
    return Bins.covering(first, max(flow.last_utc_ns for flow in flows), width_ns)


def transport_table(flows: Sequence[ObservedFlow], bins: Bins) -> pd.DataFrame:
    """Return one row per bin and flow, in order of time within each flow.

    Columns are joined one by one: to build a DataFrame for each flow would take
    longer than to count its packets.
    """
    starts = bins.edges_utc_ns[:-1]
    columns: dict[str, object] = {
        "utc_ns": np.tile(starts, len(flows)),
        "t_s": np.tile((starts - bins.start_utc_ns) / 1e9, len(flows)),
        "flow": _repeated([flow.flow.id for flow in flows], bins),
        "cc": _repeated([flow.flow.cc_read_back or flow.flow.cc for flow in flows], bins),
        "direction": _repeated([flow.flow.direction for flow in flows], bins),
    }
    active = np.stack([_active(flow, bins) for flow in flows])
    views = [OnBins(flow, bins) for flow in flows]
    for metric in bin_metrics("captures"):
        if metric.across is None:
            columns[metric.name] = np.concatenate([metric.values(view) for view in views])
        else:
            source, compute = metric.across
            values = np.stack(np.split(np.asarray(columns[source], dtype=np.float64), len(flows)))
            together = compute(np.where(active, values, np.nan))
            columns[metric.name] = np.tile(together, len(flows))
    return pd.DataFrame(columns)


def _repeated(values: list[str], bins: Bins) -> npt.NDArray[np.object_]:
    return np.repeat(np.array(values, dtype=object), bins.count)


def _active(flow: ObservedFlow, bins: Bins) -> npt.NDArray[np.bool_]:
    """Return whether each bin is between the first payload packet sent and the last received."""
    starts = bins.edges_utc_ns[:-1]
    begun: npt.NDArray[np.bool_] = starts + bins.width_ns > flow.first_utc_ns
    return begun & (starts <= flow.last_utc_ns)
