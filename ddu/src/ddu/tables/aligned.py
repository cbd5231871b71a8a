# SPDX-License-Identifier: Apache-2.0
"""The aligned table: every layer, per bin and flow, on one clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.metrics.observe import ObservedFlow
from ddu.readers.recording import Recording
from ddu.run.manifest import Flow
from ddu.tables.mac import link_on_bins, mac_on_bins
from ddu.tables.secondary import numbered, secondary_on_bins
from ddu.tables.state import cc_on_bins, sockets_on_bins


def aligned_table(
    run: Recording,
    flows: Sequence[ObservedFlow],
    transport: pd.DataFrame,
    mac: pd.DataFrame | None,
    bins: Bins,
) -> pd.DataFrame:
    """The transport table's rows, and beside them socket, congestion control, MAC and link."""
    parts = [transport]
    state = [_of_flow(run, flow.flow, bins) for flow in flows] if _has_state(run) else []
    if any(len(own.columns) for own in state):
        parts.append(pd.concat(state, ignore_index=True))
    ues = {ue: _of_link(run, mac, ue, bins) for ue in dict.fromkeys(f.flow.ue for f in flows)}
    if any(len(own.columns) for own in ues.values()):
        place = {ue: index * bins.count for index, ue in enumerate(ues)}
        rows = np.concatenate([place[flow.flow.ue] + np.arange(bins.count) for flow in flows])
        parts.append(pd.concat(ues.values(), ignore_index=True).take(rows))
    return pd.concat([part.reset_index(drop=True) for part in parts], axis=1)


def _has_state(run: Recording) -> bool:
    return run.sockets is not None or run.cc_trace is not None


def _of_flow(run: Recording, flow: Flow, bins: Bins) -> pd.DataFrame:
    """A row per bin; without columns where nothing is known."""
    state = [pd.DataFrame(index=range(bins.count))]
    state += [sockets_on_bins(run, flow, bins), cc_on_bins(run, flow, bins)]
    return pd.concat(state, axis=1)


def _of_link(run: Recording, mac: pd.DataFrame | None, ue: int, bins: Bins) -> pd.DataFrame:
    """A row per bin; without columns where nothing is known."""
    shared = [pd.DataFrame(index=range(bins.count))]
    if mac is not None:
        # A lone UE may have any number.
        ues = mac["ue"].unique()
        shared.append(mac_on_bins(mac[mac["ue"] == (ue if ue in ues else ues[0])], bins))
    shared += _of_other_logs(run, ue, bins, {str(name) for part in shared for name in part})
    if run.link is not None:
        shared.append(link_on_bins(run.link, bins))
    return pd.concat(shared, axis=1)


def _of_other_logs(run: Recording, ue: int, bins: Bins, known: set[str]) -> list[pd.DataFrame]:
    """Which of them gave which column is told in `run.alignment`."""
    tables = {name: numbered(table, run.mac) for name, table in run.oai.items()}
    found, given = secondary_on_bins(tables, ue, bins, known)
    for source, names in given.items():
        told = run.alignment[source].setdefault("gives", [])
        told += [name for name in names if name not in told]
    return [found] if len(found.columns) else []
