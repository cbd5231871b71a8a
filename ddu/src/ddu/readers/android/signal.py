# SPDX-License-Identifier: Apache-2.0
"""`mSignalStrength` of `dumpsys telephony.registry`: the levels of LTE and NR.

Source: android.telephony.SignalStrength, CellSignalStrengthLte and …Nr of Android 9 to 16, and
what phones in public logs print. 2147483647 (CellInfo.UNAVAILABLE) is null, as is `Invalid`, which
some vendors write for a whole technology.
"""

from __future__ import annotations

import re

from ddu.readers.android.braces import inside, without
from ddu.readers.fields import Values, tidy

NOT_AVAILABLE = 2**31 - 1
_PAIR = re.compile(r"\b([A-Za-z]\w*)\s*=\s*(\[[^\]]*\]|[^\s,{}\[\]]+)")
_LTE_PART = re.compile(r"mLte=CellSignalStrengthLte:([^{}]*?)(?=,\s*m[A-Z]\w*=|,\s*primary=|$)")
_TENTHS_ABOVE_DB = 30
"""LTE's rssnr is at most 30 dB (TS 27.007, and the API); phones that exceed it write tenths."""

# Our column, Android's field, least and greatest valid value
# (TS 38.133 clause 10.1, TS 36.133 clause 9.1).
_NR_FIELDS = (
    ("mac_nr_rsrp_dbm", "ssRsrp", -156, -31),
    ("mac_nr_rsrq_db", "ssRsrq", -43, 20),
    ("mac_nr_sinr_db", "ssSinr", -23, 40),
    ("mac_nr_csi_rsrp_dbm", "csiRsrp", -156, -31),
    ("mac_nr_csi_rsrq_db", "csiRsrq", -43, 20),
    ("mac_nr_csi_sinr_db", "csiSinr", -23, 40),
)
_LTE_FIELDS = (
    ("mac_lte_rsrp_dbm", "rsrp", -156, -43),
    ("mac_lte_rsrq_db", "rsrq", -34, 3),
    ("mac_lte_rssi_dbm", "rssi", -120, 0),
    ("mac_lte_cqi", "cqi", 0, 15),
)
_MOST_CQI = 15


def signal_of(line: str) -> tuple[Values, str] | None:
    """Return the levels in a line with `SignalStrength:{…}`, and its text that no column holds.

    None: the line has no such part, or its end is missing.
    """
    content = inside(line, "SignalStrength")
    if content is None:
        return None
    nr = inside(content, "CellSignalStrengthNr")
    lte = _LTE_PART.search(content)
    values = _nr(nr) | _lte(lte[1] if lte else None)
    rest = without(without(content, nr), lte[0] if lte else None)
    rest = re.sub(r"mNr=CellSignalStrengthNr:\{\s*\}", " ", rest)
    return values, tidy(re.sub(r"m(?:Cdma|Gsm|Wcdma|Tdscdma)=[^{]*?(?=,m|,primary|$)", " ", rest))


def pairs_of(text: str) -> dict[str, str]:
    """Return the values of `name=value` and `name = value` by name; the first of a name counts."""
    pairs: dict[str, str] = {}
    for name, value in _PAIR.findall(text):
        pairs.setdefault(name, value)
    return pairs


def whole(text: str | None) -> int | None:
    """Parse an integer that was measured; None for one not available, redacted or not a number."""
    if text is None or not re.fullmatch(r"-?\d{1,10}", text):
        return None
    value = int(text)
    return None if value in (NOT_AVAILABLE, -NOT_AVAILABLE - 1) else value


def _nr(text: str | None) -> Values:
    return {} if text is None else nr_levels(pairs_of(text))


def nr_levels(pairs: dict[str, str]) -> Values:
    """Return the NR levels by the field names of CellSignalStrengthNr."""
    values = _within(pairs, _NR_FIELDS)
    if match := re.search(r"\d+", pairs.get("csiCqiReport", "")):
        cqi = whole(match[0])
        if cqi is not None and 0 <= cqi <= _MOST_CQI:
            values["mac_nr_cqi"] = cqi
    return values


def _lte(text: str | None) -> Values:
    return {} if text is None else lte_levels(pairs_of(text))


def lte_levels(pairs: dict[str, str]) -> Values:
    """Return the LTE levels by the field names of CellSignalStrengthLte."""
    values = _within(pairs, _LTE_FIELDS)
    snr = whole(pairs.get("rssnr"))
    if snr is not None:
        scaled = snr / 10 if abs(snr) > _TENTHS_ABOVE_DB else float(snr)
        if abs(scaled) <= _TENTHS_ABOVE_DB:
            values["mac_lte_sinr_db"] = scaled
    return values


def _within(pairs: dict[str, str], wanted: tuple[tuple[str, str, int, int], ...]) -> Values:
    """Return the fields of `wanted` whose value is a valid one, by our columns' names."""
    values: Values = {}
    for ours, theirs, least, greatest in wanted:
        value = whole(pairs.get(theirs))
        if value is not None and least <= value <= greatest:
            values[ours] = value
    return values
