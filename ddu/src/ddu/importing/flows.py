# SPDX-License-Identifier: Apache-2.0
"""The data flows of a foreign capture, and their direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.hercules import named_congestion_controls
from ddu.readers.packets.capture import read_packets
from ddu.readers.packets.tables import TCP

_LEAST_SHARE = 0.01
"""Share of the largest flow's bytes below which a connection is not a data flow."""
_LEAST_BYTES = 50_000


def data_flows(capture: Path) -> pd.DataFrame:
    """Return the directions of TCP that carry data, most bytes first; see Capture.flows.

    Raises UnreadableInput without any.
    """
    flows = read_packets(capture, columns=["utc_ns"], expect_tcp=True).flows.to_pandas()
    tcp = flows[flows["proto"] == TCP]
    most = int(tcp["ip_bytes"].max())
    large = tcp[tcp["ip_bytes"] >= max(_LEAST_BYTES, most * _LEAST_SHARE)]
    forward = large[~large.apply(lambda row: _is_answer(row, tcp), axis=1)] if len(large) else large
    if not len(forward):
        raise UnreadableInput(
            capture, f"no connection carries {_LEAST_BYTES} bytes of data", "was there a transfer?"
        )
    ordered: pd.DataFrame = forward.sort_values("ip_bytes", ascending=False, ignore_index=True)
    return ordered


def _is_answer(row: pd.Series, tcp: pd.DataFrame) -> bool:
    """Return whether the other direction carries more: this one is then its acknowledgements."""
    back = tcp[
        (tcp["src"] == row["dst"]) & (tcp["sport"] == row["dport"])
        & (tcp["dst"] == row["src"]) & (tcp["dport"] == row["sport"])
    ]  # fmt: skip
    return bool(len(back) and int(back["ip_bytes"].max()) > int(row["ip_bytes"]))


def manifest_flows(
    flows: pd.DataFrame, direction: str, sockets: pd.DataFrame | None, name: str
) -> list[dict[str, Any]]:
    """Return run.json's `flows`; the congestion control is that of ss, else that in the name."""
    sender, receiver = ("server", "ue") if direction == "dl" else ("ue", "server")
    entries = []
    first = int(flows["first_utc_ns"].min())
    for index, row in enumerate(flows.to_dict("records")):
        read_back = _by_socket(row, sockets)
        control = read_back or _by_name(row, name)
        low = min(int(row["sport"]), int(row["dport"]))
        entries.append(
            {
                "id": f"f{index}",
                "cc": control or "unknown",
                "cc_read_back": read_back,
                "direction": direction,
                "start_s": (int(row["first_utc_ns"]) - first) / 1e9,
                "sender": {"host": sender, "address": row["src"], "port": int(row["sport"])},
                "receiver": {"host": receiver, "address": row["dst"], "port": int(row["dport"])},
                "control_port": int(row["dport"]) if low == int(row["dport"]) else None,
            }
        )
    return entries


def _by_socket(row: dict[Any, Any], sockets: pd.DataFrame | None) -> str | None:
    if sockets is None or "cong" not in sockets:
        return None
    own = sockets[
        (sockets["src"] == row["src"]) & (sockets["sport"] == row["sport"])
        & (sockets["dport"] == row["dport"])
    ]["cong"].dropna()  # fmt: skip
    return str(own.mode().iloc[0]) if len(own) else None


def _by_name(row: dict[Any, Any], name: str) -> str | None:
    named = list(named_congestion_controls(name))
    ports = (int(row["sport"]), int(row["dport"]))
    for control, port in named:
        if port in ports:
            return control
    only = {control for control, _ in named}
    return only.pop() if len(only) == 1 else None
