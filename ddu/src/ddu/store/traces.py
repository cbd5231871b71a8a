# SPDX-License-Identifier: Apache-2.0
"""The traces of congestion controls as rows of the store: each declares its own columns."""

from __future__ import annotations

import pandas as pd

from ddu.run.manifest import Manifest

_PORTS = {"sport", "dport"}
_OF_ROW = ["utc_ns", "t_s"]


def cc_samples(trace: pd.DataFrame, manifest: Manifest, flows: dict[str, int]) -> pd.DataFrame:
    """Return rows of cc_sample for tables/cc: what each flow's congestion control recorded.

    A trace without ports is of all flows. `flows`: the number of each flow in the store.
    """
    traced = {one.cc for one in manifest.cc_traces}
    per_flow = []
    for flow in manifest.flows:
        name = next((cc for cc in (flow.cc, flow.cc_read_back) if cc in traced), None)
        if name is None or flow.id not in flows:
            continue
        own = trace
        if set(trace) >= _PORTS:
            ends = (trace["sport"] == flow.sender.port, trace["dport"] == flow.receiver.port)
            own = trace[ends[0] & ends[1]]
        own = own.assign(flow_id=flows[flow.id], trace=name, record=records(own))
        per_flow.append(own[[*_OF_ROW, "flow_id", "trace", "record"]])
    return pd.concat(per_flow, ignore_index=True) if per_flow else trace.iloc[:0]


def records(trace: pd.DataFrame) -> list[str]:
    """Return each row's declared columns as JSON, without columns that hold nothing at all."""
    declared = trace.drop(columns=[*_PORTS, *_OF_ROW], errors="ignore").dropna(axis=1, how="all")
    for name in declared.select_dtypes(["object", "string"]):
        # PostgreSQL's text cannot hold NUL.
        declared[name] = declared[name].astype("string").str.replace("\0", "\ufffd")
    lines: str = declared.to_json(orient="records", lines=True, double_precision=15)
    return lines.splitlines() if len(declared.columns) else ["{}"] * len(trace)
