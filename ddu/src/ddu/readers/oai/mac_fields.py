# SPDX-License-Identifier: Apache-2.0
"""The fields of OAI's MAC block, in every form that a version printed them.

Source: the format strings of `dump_mac_stats` in OAI's gNB, 2023.w16 to August 2026. A field is
found by its words, not by its position, so that a line of any version, or of two mixed, is read.
"""

from __future__ import annotations

import re

from ddu.readers.fields import Field, Values, field, number, rounds

_N = r"(-?\d+)"
_DECIMAL = r"([+-]?\d+[.,]-?\d+|[+-]?\d+|-?nan|-?inf)"

HEADER = re.compile(r"^UE RNTI ([0-9a-fA-F]{4})\b(.*)$")
UE_LINE = re.compile(r"^UE ([0-9a-fA-F]{4}):(.*)$")
CELL = re.compile(r"^=== Cell (\d+) ===")
CONTINUED = re.compile(r"^\s*(?:dB\)|NPRB\b)")
"""2024-05 to 2024-08 put a newline behind deltaMCS: the rest of the uplink's line."""

DIALECTS = (
    ("2026-08", r"=== Cell \d|CSI \[CQI|LCID [\d,]+, goodput"),
    ("2026-06", r"goodput [\d.]+ Mbps|pucch0_DTX \d+ \(SNR"),
    ("2025-09", r"average SINR|in-sync PH .* dBm\s*$"),
    ("2025-08", r"CCE fail"),
    ("2024-09", r"deltaMCS -?\d+ dB"),
    ("2024-05", r"\(Qm \d+"),
    ("2024-02", r"CU-UE-ID|MCS \(\d\)|MAC:\s+TX"),
    ("2023-10", r"LCID \d+: TX\s+\d+ RX"),
    ("2023-05", r"dlsch_total_bytes"),
)
"""The newest feature in a log shows its version. 2023.w16 differs from 2023-05 only in
that the CQI's line is always there."""

_NO_MEASUREMENT = 0


def _measured(level: str, count: str) -> Field:
    """Return a mean over `n meas`, and null for the value printed without a measurement."""

    def columns(match: re.Match[str]) -> Values:
        taken = number(match[2])
        value = None if taken == _NO_MEASUREMENT else number(match[1])
        return {level: value, count: taken}

    words = "RSRP" if "rsrp" in level else "SINR"
    return Field(re.compile(rf"average {words} {_DECIMAL} \((\d+) meas\)"), columns)


def _in_sync(match: re.Match[str]) -> Values:
    return {"mac_in_sync": 0 if match[1] == "out-of-sync" else 1}


def _identity(match: re.Match[str]) -> Values:
    return {} if match[1] == "(none)" else {"mac_cu_ue_id": number(match[1])}


HEADER_FIELDS = (
    field(r"^\s*\((\d+)\)", "mac_ue_uid"),
    Field(re.compile(r"CU-UE-ID (\d+|\(none\))"), _identity),
    Field(re.compile(r"\b(in-sync|out-of-sync)\b"), _in_sync),
    field(rf"\bPH {_N} dB\b", "mac_phr_db"),
    field(rf"\bPCMAX {_N} dBm\b", "mac_pcmax_dbm"),
    _measured("mac_rsrp_dbm", "mac_rsrp_meas_count"),
    _measured("mac_sinr_db", "mac_sinr_meas_count"),
    field(rf"\bRSSI {_DECIMAL}(?: dBm)?", "mac_rssi_dbm"),
)

_CHANNEL_STATE = (
    field(
        r"CQI (\d+),? RI (\d+),? PMI \((-?\d+), *(-?\d+)\)",
        "mac_cqi",
        "mac_ri",
        "mac_pmi_x1",
        "mac_pmi_x2",
    ),
    field(r"UL-RI (\d+)", "mac_ul_ri"),
    field(r"TPMI (\d+)", "mac_ul_tpmi"),
    field(rf"\bRSSI {_DECIMAL}(?: dBm)?", "mac_rssi_dbm"),
)


def _rounds(direction: str) -> Field:
    pattern = re.compile(rf"\b{direction}sch_rounds (-?\d+(?:/-?\d+)*)")
    return Field(pattern, lambda match: rounds(direction, match[1]))


def _of_shared_channel(direction: str) -> tuple[Field, ...]:
    return (
        _rounds(direction),
        field(rf"\b{direction}sch_errors {_N}", f"mac_{direction}_errors_count"),
        field(rf"\bBLER {_DECIMAL}", f"mac_{direction}_bler_ratio"),
        field(r"\bMCS (?:\((\d+)\) )?(\d+)", f"mac_{direction}_mcs_table", f"mac_{direction}_mcs"),
        field(rf"\bCCE fail {_N}", f"mac_{direction}_cce_fail_count"),
        field(rf"\bgoodput {_DECIMAL} Mbps", f"mac_{direction}_goodput_bps", scale=1e6),
    )


_DOWN = (
    field(
        rf"\bpucch0_DTX {_N}(?: \(SNR {_DECIMAL}([+-]\d+\.\d+) dB\))?",
        "mac_pucch0_dtx_count",
        "mac_pucch0_snr_db",
        "mac_pucch0_snr_offset_db",
    ),
    *_of_shared_channel("dl"),
)
_UP = (
    field(rf"\bulsch_DTX {_N}", "mac_ulsch_dtx_count"),
    field(rf"\bdeltaMCS {_N}(?: dB)?", "mac_ul_delta_mcs_db"),
    field(r"\bQm (\d+)", "mac_ul_qm"),
    field(r"\bNPRB (\d+)", "mac_ul_grant_prb"),
    field(
        rf"\bSNR {_DECIMAL}(?: \({_DECIMAL}\))?(?: dB)?", "mac_ul_snr_db", "mac_ul_snr_offset_db"
    ),
    *_of_shared_channel("ul"),
)
_BYTES = (
    field(r"\bdlsch_total_bytes (-?\d+)", "mac_dl_bytes"),
    field(r"\bulsch_total_bytes_scheduled (-?\d+)", "mac_ul_bytes_scheduled"),
    field(r"\bulsch_total_bytes_received (-?\d+)", "mac_ul_bytes"),
    field(r"\bMAC: +TX +(-?\d+) RX +(-?\d+) bytes", "mac_dl_bytes", "mac_ul_bytes"),
)


def _of_one_direction(match: re.Match[str]) -> Values:
    direction = "dl" if match[3] == "TX" else "ul"
    return {f"mac_{direction}_lcid_{match[1]}_bytes": number(match[2])}


def _of_both_directions(match: re.Match[str]) -> Values:
    return {
        f"mac_{direction}_lcid_{match[1]}_bytes": number(text)
        for direction, text in (("dl", match[2]), ("ul", match[3]))
    }


_CHANNELS = (
    Field(re.compile(r"\bLCID (\d+): +(-?\d+) bytes (TX|RX)\b"), _of_one_direction),
    Field(re.compile(r"\bLCID (\d+): +TX +(-?\d+) +RX +(-?\d+) bytes"), _of_both_directions),
    field(
        rf"\bgoodput DL +{_DECIMAL} UL +{_DECIMAL} Mbps",
        "mac_dl_goodput_bps",
        "mac_ul_goodput_bps",
        scale=1e6,
    ),
)


def fields_of(text: str) -> tuple[Field, ...]:
    """Return the fields to look for in a UE's line, since two lines may share a word."""
    if "dlsch_rounds" in text:
        return _DOWN
    if "ulsch_rounds" in text:
        return _UP
    return (*_BYTES, *_CHANNELS, *_CHANNEL_STATE)


def dialect_of(text: str) -> str:
    """Return the version whose format this is, by its newest feature; "" if it has none."""
    return next((name for name, sign in DIALECTS if re.search(sign, text, re.MULTILINE)), "")
