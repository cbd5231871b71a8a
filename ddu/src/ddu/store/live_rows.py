# SPDX-License-Identifier: Apache-2.0
"""Samples of a run that has not ended, as rows of the live tables (migrations/004_live.sql)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from ddu.align.counters import increments, is_counter
from ddu.store.traces import records
from ddu.tables.mac import LINK_COLUMNS

_SOCKET = ["src", "sport", "dst", "dport"]


@dataclass
class Growth:
    """Increments across reads: the last row of each key is kept for the next one."""

    key: list[str]
    last: pd.DataFrame | None = field(default=None)

    def of(self, rows: pd.DataFrame, counters: list[str]) -> pd.DataFrame:
        """The rows with what `counters` and `utc_ns` (as `elapsed_ns`) grew by since the row before
        of the same key; null in a key's first row, but for counters, which began at 0."""
        if not len(rows):
            return rows.assign(elapsed_ns=float("nan"))
        needed = rows[[*self.key, "utc_ns", *counters]].astype(dict.fromkeys(counters, "float64"))
        joined = needed if self.last is None else pd.concat([self.last, needed])
        joined = joined.reset_index(drop=True)
        groups = joined.groupby(self.key or (lambda _: 0), sort=False)
        grown = joined[counters]
        if counters:
            grown = groups[counters].transform(lambda values: increments(values.to_numpy()))
        elapsed = groups["utc_ns"].diff().rename("elapsed_ns")
        known = groups[counters].ffill() if counters else grown
        self.last = joined.assign(**known).loc[groups.tail(1).index]
        new = pd.concat([grown, elapsed], axis=1).iloc[len(joined) - len(rows) :]
        return rows.assign(**new.set_index(rows.index))


def socket_rows(samples: pd.DataFrame, growth: Growth) -> pd.DataFrame:
    """Return rows of live_socket: one per sample of a connection that carries data."""
    data = samples[samples["bytes_sent"] > 0].astype({"src": "str", "dst": "str", "cong": "str"})
    rows = growth.of(data, ["bytes_acked", "total_retrans_count"])
    # The first sample of a connection has nothing before it to make a rate of.
    rates = rows["bytes_acked"] * 8e9 / rows["elapsed_ns"]
    mss = rows["snd_mss_bytes"].astype("float64")
    packets = {name: rows[f"{name}_packets"].astype("float64") for name in
               ("unacked", "sacked", "lost", "retrans")}  # fmt: skip
    flight = packets["unacked"] - packets["sacked"] - packets["lost"] + packets["retrans"]
    return pd.DataFrame(
        {
            "time": _instants(rows),
            "flow": rows["src"] + ":" + rows["sport"].astype(str),
            "cc": rows["cong"],
            "acked_bps": rates,
            "delivery_rate_bps": rows["delivery_rate_bytes_per_s"].astype("float64") * 8,
            "pacing_rate_bps": rows["pacing_rate_bytes_per_s"].astype("float64") * 8,
            "srtt_ms": rows["rtt_us"].astype("float64") / 1e3,
            "cwnd_bytes": rows["snd_cwnd_packets"].astype("float64") * mss,
            "inflight_bytes": flight * mss,
            "retransmissions_count": rows["total_retrans_count"],
        }
    )


def radio_rows(samples: pd.DataFrame, growth: Growth) -> pd.DataFrame:
    """Return rows of live_radio: one per interval and UE."""
    counters = [name for name in ("mac_dl_sdu_bytes", "mac_ul_sdu_bytes") if name in samples]
    rows = growth.of(samples, counters).assign(time=_instants)
    for counter in counters:
        rate = rows[counter] * 8e9 / rows["duration_ns"]
        rows[counter.replace("_bytes", "_throughput_bps")] = rate
    return rows.drop(columns=["utc_ns"])


def trust_rows(samples: pd.DataFrame, growth: Growth) -> pd.DataFrame:
    """Return rows of live_trust: one per interval."""
    counters = [name for name in LINK_COLUMNS if is_counter(name) and name in samples]
    rows = growth.of(samples, counters).assign(time=_instants)
    return rows.rename(columns=LINK_COLUMNS)


def trace_rows(trace: str, samples: pd.DataFrame, _: Growth) -> pd.DataFrame:
    """Return rows of live_cc: one per record of the congestion control's trace."""
    flow = "port " + samples["sport"].astype(str) if "sport" in samples else "all flows"
    return pd.DataFrame(
        {"time": _instants(samples), "flow": flow, "trace": trace, "record": records(samples)}
    )


def _instants(rows: pd.DataFrame) -> pd.Series:
    return pd.to_datetime(rows["utc_ns"], utc=True)
