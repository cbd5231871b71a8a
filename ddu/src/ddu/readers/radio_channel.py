# SPDX-License-Identifier: Apache-2.0
"""The channel on the samples of gNB and UE: raw/oai/channel.csv (docs/run-directory.md)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.csv import read_samples
from ddu.readers.format import Format, LogClock, by_line
from ddu.readers.logs import LogTable

_HEADER = ("utc_ns", "radio_s", "ue", "rsrp_dbm", "sinr_db", "gain_db", "noise_db")
_LEVELS = {name: f"channel_{name}" for name in _HEADER if name not in ("utc_ns", "ue")}
# Recordings from before several UEs were in lockstep have none.
_UPLINK = ("ul_sinr_db", "ul_gain_db", "ul_noise_db")
_PATH = re.compile(r"delay_ns_(\d+)")
_CLOCK = LogClock(
    "the hosts' time at the slot for which the channel was computed", 0, source="the radio"
)


def read_radio_channel(file: Path) -> LogTable:
    """Return a row per instant and UE: levels, and of each path delay, complex gain and power.

    Raises UnreadableInput when the file cannot be read or is not this table.
    """
    samples = read_samples(file, _HEADER, numeric=True)
    paths = [match[1] for name in samples if (match := _PATH.fullmatch(str(name)))]
    uplink = {name: f"channel_{name}" for name in _UPLINK if name in samples}
    table = samples[["utc_ns", "ue", *_LEVELS, *uplink]].rename(columns=_LEVELS | uplink)
    for path in paths:
        delay, *parts = (f"{name}_{path}" for name in ("delay_ns", "re", "im"))
        if missing := [name for name in parts if name not in samples]:
            raise UnreadableInput(file, f"{delay} without {', '.join(missing)}", line=1)
        table[f"channel_delay_{path}_ns"] = samples[delay]
        table[f"channel_re_{path}"], table[f"channel_im_{path}"] = (samples[name] for name in parts)
        table[f"channel_path_{path}_db"] = _power_db(*(samples[name] for name in parts))
    return LogTable(file, "radio-channel", table, "", samples.attrs["truncated_at"])


def _power_db(re: pd.Series[float], im: pd.Series[float]) -> pd.Series[float]:
    """Return the power of a complex gain in dB; null where there is none."""
    power = (re**2 + im**2).astype("float64")
    decibels = 10 * np.log10(power.where(power > 0))
    return pd.Series(decibels, power.index)


FORMATS = (
    Format(
        "radio-channel", by_line(rf"\A{','.join(_HEADER)}\b"), read_radio_channel, _CLOCK, "table",
        table="channel", file="oai/channel.csv",
    ),
)  # fmt: skip
