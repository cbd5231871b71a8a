# SPDX-License-Identifier: Apache-2.0
"""The aligned table: every layer, per bin and flow, on one clock."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ddu.run.load import Recording
from ddu.run.manifest import Flow
from ddu.tables.bins import Bins
from ddu.tables.mac import link_on_bins, mac_on_bins
from ddu.tables.secondary import numbered, secondary_on_bins
from ddu.tables.state import cc_on_bins, sockets_on_bins
from ddu.transport.observe import ObservedFlow


def aligned_table(
    run: Recording,
    flows: Sequence[ObservedFlow],
    transport: pd.DataFrame,
    mac: pd.DataFrame | None,
    bins: Bins,
) -> pd.DataFrame:
    """The transport table's rows, and beside them socket, congestion control, MAC and link."""
    parts = []
    of_ue: dict[int, list[pd.DataFrame]] = {}
    of_flow = dict(iter(transport.groupby("flow", sort=False)))
    for flow in flows:
        own = of_flow[flow.flow.id].reset_index(drop=True)
        state = _of_flow(run, flow.flow, bins)
        ue = flow.flow.ue
        if ue not in of_ue:
            of_ue[ue] = _of_link(run, mac, ue, bins)
        parts.append(pd.concat([own, *state, *of_ue[ue]], axis=1))
    return pd.concat(parts, ignore_index=True)


def _of_flow(run: Recording, flow: Flow, bins: Bins) -> list[pd.DataFrame]:
    state = []
    if run.sockets is not None:
        state.append(sockets_on_bins(run.sockets, flow, bins))
    if run.cc_trace is not None and run.manifest.cc_trace is not None:
        trace_of = run.manifest.cc_trace.cc
        if trace_of in (flow.cc, flow.cc_read_back):
            state.append(cc_on_bins(run.cc_trace, flow, bins))
    return state


def _of_link(run: Recording, mac: pd.DataFrame | None, ue: int, bins: Bins) -> list[pd.DataFrame]:
    shared = []
    if mac is not None:
        # A lone UE may have any number.
        ues = mac["ue"].unique()
        shared.append(mac_on_bins(mac[mac["ue"] == (ue if ue in ues else ues[0])], bins))
    shared += _of_other_logs(run, ue, bins, {str(name) for part in shared for name in part})
    if run.link is not None:
        shared.append(link_on_bins(run.link, bins))
    return shared


def _of_other_logs(run: Recording, ue: int, bins: Bins, known: set[str]) -> list[pd.DataFrame]:
    """Which of them gave which column is told in `run.alignment`."""
    tables = {name: numbered(table, run.mac) for name, table in run.oai.items()}
    found, given = secondary_on_bins(tables, ue, bins, known)
    for source, names in given.items():
        told = run.alignment[source].setdefault("gives", [])
        told += [name for name in names if name not in told]
    return [found] if len(found.columns) else []
