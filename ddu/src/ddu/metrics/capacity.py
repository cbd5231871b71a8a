# SPDX-License-Identifier: Apache-2.0
"""The capacities of UEs: which of them are those of the link."""

from __future__ import annotations

import pandas as pd


def ues_with_data(mac: pd.DataFrame, direction: str) -> list[int]:
    """Return the UEs that had data in this direction."""
    carried = mac.groupby("ue")[f"mac_{direction}_sdu_bytes"].sum()
    return [int(ue) for ue in carried.index[carried > 0]]


def adding_up(mac: pd.DataFrame, direction: str) -> pd.DataFrame | None:
    """Return the rows whose capacities add up to that of the link: of each UE over a link whose UEs
    have a capacity each, of the UE with data over a radio.

    None over a radio where several UEs had data: what each could have had beside its own are the
    same resources, so that their capacities have no sum.
    """
    prb = f"mac_{direction}_prb_count"
    if prb not in mac or not mac[prb].notna().any():
        return mac
    with_data = ues_with_data(mac, direction)
    return mac[mac["ue"].isin(with_data)] if len(with_data) <= 1 else None
