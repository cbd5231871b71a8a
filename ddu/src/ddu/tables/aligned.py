# SPDX-License-Identifier: Apache-2.0
"""The aligned table: every layer, per bin and flow, on one clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.metrics.catalogue import bin_metrics
from ddu.metrics.metric import Need, OnBins
from ddu.tables.delays import delays_on_bins
from ddu.tables.mac import link_on_bins, mac_on_bins
from ddu.tables.secondary import numbered, secondary_on_bins
from ddu.tables.state import cc_on_bins, quic_on_bins, sockets_on_bins


def aligned_table(
    run: AlignedRun,
    flows: Sequence[ObservedFlow],
    transport: pd.DataFrame,
    mac: pd.DataFrame | None,
    bins: Bins,
    delays: pd.DataFrame | None,
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return the transport table with the columns of socket, congestion control, MAC and link, and
    the columns that each of the logs in `run.tables` gave. `delays`: packets with explained delays.
    """
    parts = [transport]
    state = [_of_flow(run, flow, bins) for flow in flows] if _has_state(run) else []
    if any(len(own.columns) for own in state):
        parts.append(pd.concat(state, ignore_index=True))
    if delays is not None:
        own = [delays_on_bins(delays, flow, bins) for flow in flows]
        parts.append(pd.concat(own, ignore_index=True))
    given: dict[str, list[str]] = {}
    ues = {}
    for ue in dict.fromkeys(f.flow.ue for f in flows):
        ues[ue], of_ue = _of_link(run, mac, ue, bins)
        for source, names in of_ue.items():
            given[source] = list(dict.fromkeys([*given.get(source, []), *names]))
    if any(len(own.columns) for own in ues.values()):
        place = {ue: index * bins.count for index, ue in enumerate(ues)}
        rows = np.concatenate([place[flow.flow.ue] + np.arange(bins.count) for flow in flows])
        parts.append(pd.concat(ues.values(), ignore_index=True).take(rows))
    aligned = pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    return pd.concat([aligned, _derived(flows, aligned, bins)], axis=1), given


def _has_state(run: AlignedRun) -> bool:
    return run.sockets is not None or bool(run.cc_traces) or "quic" in run.tables


def _of_flow(run: AlignedRun, flow: ObservedFlow, bins: Bins) -> pd.DataFrame:
    state = [pd.DataFrame(index=range(bins.count))]
    state += [sockets_on_bins(run, flow, bins), quic_on_bins(run, flow, bins)]
    state.append(cc_on_bins(run, flow.flow, bins))
    return pd.concat(state, axis=1)


def _derived(flows: Sequence[ObservedFlow], aligned: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    prefixes = {Need.MAC: "mac_", Need.CC_TRACE: "cc_"}
    has = {need for need, prefix in prefixes.items() if any(aligned.columns.str.startswith(prefix))}
    rows = [aligned.iloc[index * bins.count :][: bins.count] for index in range(len(flows))]
    views = [OnBins(flow, bins, aligned=own) for flow, own in zip(flows, rows, strict=True)]
    return pd.DataFrame(
        {
            metric.name: np.concatenate([metric.values(view) for view in views])
            for metric in bin_metrics("derived")
            if {*metric.needs} & {*prefixes} <= has
        }
    )


def _of_link(
    run: AlignedRun, mac: pd.DataFrame | None, ue: int, bins: Bins
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return a row per bin, without columns where nothing is known; and each log's columns."""
    shared = [pd.DataFrame(index=range(bins.count))]
    if mac is not None:
        # A lone UE may have any number.
        ues = mac["ue"].unique()
        shared.append(mac_on_bins(mac[mac["ue"] == (ue if ue in ues else ues[0])], bins))
    tables = {name: numbered(table, run.mac) for name, table in run.tables.items()}
    known = {str(name) for part in shared for name in part}
    secondary, given = secondary_on_bins(tables, ue, bins, known)
    shared += [secondary] if len(secondary.columns) else []
    if run.link is not None:
        shared.append(link_on_bins(run.link, bins))
    return pd.concat(shared, axis=1), given
