# SPDX-License-Identifier: Apache-2.0
"""The delays of packets by cause on bins: of a flow's data, and of its ACKs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.flows.explained import ACK, DATA
from ddu.flows.observe import ObservedFlow
from ddu.flows.rtt import Samples, sending_of
from ddu.readers.delays import parts_of
from ddu.readers.packets.segments import highest_before

_PREFIXES = {DATA: "delay_", ACK: "delay_ack_"}


def delays_on_bins(packets: pd.DataFrame, flow: ObservedFlow, bins: Bins) -> pd.DataFrame:
    """Return the mean of each part over the packets received in each bin, ms; null without any."""
    columns = {}
    of_flow = (packets["flow"] == flow.flow.id).to_numpy()
    for role, prefix in _PREFIXES.items():
        rows = np.flatnonzero(of_flow & (packets["role"] == role).to_numpy())
        placed = bins.place(packets["received_utc_ns"].to_numpy()[rows])
        for part in parts_of(packets.columns):
            name = prefix + part.removeprefix("delay_").removesuffix("ns") + "ms"
            columns[name] = placed.means(packets[part].to_numpy()[rows] / 1e6)
    wait = ack_wait(flow)
    columns["delay_ack_wait_ms"] = bins.means(wait.utc_ns, wait.value_ms)
    return pd.DataFrame(columns)


def ack_wait(flow: ObservedFlow) -> Samples:
    """Return for how long the receiver kept what each new ACK acknowledges: from the reception of
    its last byte to the ACK, both at the receiver, when that is sent.

    Batching of received packets and delayed ACKs are in it.
    """
    acks = flow.receiver_acks
    advances = acks.ack > highest_before(acks.ack)
    nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    got_ns, known = sending_of(acks.ack[advances] - 1, flow.received, nothing)
    sent_ns = acks.utc_ns[advances][known]
    causal = sent_ns >= got_ns
    return Samples(sent_ns[causal], (sent_ns - got_ns)[causal] / 1e6)
