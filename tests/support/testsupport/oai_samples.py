# SPDX-License-Identifier: Apache-2.0
"""OAI's MAC block as each version prints it, after the format table of its sources, with the
values that a reader must find in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    version: str
    dialect: str
    text: str
    values: dict[str, float]
    """The values of the first UE."""


_2023 = """\
Frame.Slot 256.0
UE RNTI 1a2b (3) PH 45 dB PCMAX 21 dBm, average RSRP -87 (12 meas)
UE 1a2b: CQI 13, RI 2, PMI (1,0)
UE 1a2b: dlsch_rounds 901/34/5/6, dlsch_errors 7, pucch0_DTX 8, BLER 0.03125 MCS 17
UE 1a2b: dlsch_total_bytes 1234567
UE 1a2b: ulsch_rounds 555/44/33/22, ulsch_DTX 11, ulsch_errors 9, BLER 1.12500 MCS 6
UE 1a2b: ulsch_total_bytes_scheduled 77777, ulsch_total_bytes_received 66666
UE 1a2b: LCID 1: 627 bytes TX
UE 1a2b: LCID 4: 147903 bytes TX
UE 1a2b: LCID 4: 148464 bytes RX
"""
_OF_2023 = {
    "mac_rnti": 0x1A2B, "mac_ue_uid": 3, "mac_phr_db": 45, "mac_pcmax_dbm": 21,
    "mac_rsrp_dbm": -87, "mac_rsrp_meas_count": 12, "mac_cqi": 13, "mac_ri": 2, "mac_pmi_x1": 1,
    "mac_pmi_x2": 0, "mac_dl_rounds_1_count": 901, "mac_dl_rounds_2_count": 34,
    "mac_dl_rounds_3_count": 5, "mac_dl_rounds_4_count": 6, "mac_dl_errors_count": 7,
    "mac_pucch0_dtx_count": 8, "mac_dl_bler_ratio": 0.03125, "mac_dl_mcs": 17,
    "mac_dl_bytes": 1234567, "mac_ul_rounds_1_count": 555, "mac_ul_rounds_4_count": 22,
    "mac_ulsch_dtx_count": 11, "mac_ul_errors_count": 9, "mac_ul_bler_ratio": 1.125,
    "mac_ul_mcs": 6, "mac_ul_bytes_scheduled": 77777, "mac_ul_bytes": 66666,
    "mac_dl_lcid_1_bytes": 627, "mac_dl_lcid_4_bytes": 147903, "mac_ul_lcid_4_bytes": 148464,
}  # fmt: skip

_2024_02 = """\
Frame.Slot 128.0
UE RNTI 53e7 CU-UE-ID 1 in-sync PH 40 dB PCMAX 20 dBm, average RSRP -44 (16 meas)
UE 53e7: UL-RI 1, TPMI 2
UE 53e7: dlsch_rounds 3088/2/0/0, dlsch_errors 0, pucch0_DTX 1, BLER 0.00000 MCS (1) 27
UE 53e7: ulsch_rounds 3116/0/0/0, ulsch_errors 4, ulsch_DTX 5, BLER 0.00000 MCS (0) 9
UE 53e7: MAC:    TX         380016 RX         356230 bytes
UE 53e7: LCID 4: TX             24 RX            552 bytes
"""
_OF_2024_02 = {
    "mac_in_sync": 1, "mac_cu_ue_id": 1, "mac_ul_ri": 1, "mac_ul_tpmi": 2, "mac_dl_mcs_table": 1,
    "mac_dl_mcs": 27, "mac_ul_errors_count": 4, "mac_ulsch_dtx_count": 5, "mac_dl_bytes": 380016,
    "mac_ul_bytes": 356230, "mac_dl_lcid_4_bytes": 24, "mac_ul_lcid_4_bytes": 552,
}  # fmt: skip

_HEAD_2024 = "UE RNTI 53e7 CU-UE-ID 1 in-sync PH 40 dB PCMAX 20 dBm, average RSRP -44 (16 meas)\n"
_UP = "UE 53e7: ulsch_rounds 31/0/0/0, ulsch_errors 0, ulsch_DTX 0, BLER 0.50000 MCS (0) 9 "

_2024_05 = _HEAD_2024 + _UP + "(Qm 2 deltaMCS -3\n dB) NPRB 24  SNR -1.-5 dB\n"
_OF_2024_05 = {
    "mac_ul_qm": 2, "mac_ul_delta_mcs_db": -3, "mac_ul_grant_prb": 24, "mac_ul_snr_db": -1.5,
    "mac_ul_mcs": 9, "mac_ul_bler_ratio": 0.5,
}  # fmt: skip
_2024_09 = _HEAD_2024 + _UP + "(Qm 4 deltaMCS 2 dB) NPRB 5  SNR 0.-5 dB\n"
_OF_2024_09 = {"mac_ul_qm": 4, "mac_ul_delta_mcs_db": 2, "mac_ul_snr_db": -0.5}

_2025_09 = """\
Frame.Slot 128.0
UE RNTI 8e03 CU-UE-ID 1 in-sync PH 48 dB PCMAX 20 dBm, average SINR -2.-5 (30 meas)
UE 8e03: dlsch_rounds 56/0/0/0, dlsch_errors 0, pucch0_DTX 0, BLER 0.00133 MCS (0) 5 CCE fail 7
"""
_OF_2025_09 = {"mac_sinr_db": -2.5, "mac_sinr_meas_count": 30, "mac_dl_cce_fail_count": 7}

_2026_06 = """\
Frame.Slot 512.0
UE RNTI 4a1c CU-UE-ID (none) in-sync PH 40 dB PCMAX 23 dBm, average RSRP -84 (12 meas)
UE 4a1c: dlsch_rounds 1/2/3/4, dlsch_errors 3, pucch0_DTX 6 (SNR -5.0-2.5 dB), BLER 0.00123 \
MCS (1) 27 CCE fail 0, goodput 12.34 Mbps
UE 4a1c: ulsch_rounds 890/12/1/0, ulsch_errors 0, ulsch_DTX 2, BLER 0.00010 MCS (1) 20 \
(Qm 4 deltaMCS 0 dB) NPRB 20 SNR 22.0 (-1.5) dB CCE fail 1, goodput 5.67 Mbps
"""
_OF_2026_06 = {
    "mac_pucch0_dtx_count": 6, "mac_pucch0_snr_db": -5.0, "mac_pucch0_snr_offset_db": -2.5,
    "mac_dl_goodput_bps": 12.34e6, "mac_ul_goodput_bps": 5.67e6, "mac_ul_snr_db": 22.0,
    "mac_ul_snr_offset_db": -1.5, "mac_ul_cce_fail_count": 1, "mac_dl_rounds_4_count": 4,
}  # fmt: skip

_2026_08 = """\
Frame.Slot 640.0
=== Cell 1 ===
UE RNTI 4a1c CU-UE-ID 2 in-sync PH 40 dB PCMAX 23 dBm, average RSRP -84 (12 meas)
UE 4a1c: CSI [CQI 15 RI 1 PMI (0,3)] SRS [none]
UE 4a1c: ulsch_rounds 890/12/1/0, ulsch_errors 0, ulsch_DTX 2, BLER 0.00010 MCS (1) 20 \
(Qm 4 deltaMCS 0 dB) NPRB 20 RSSI -61.5 SNR 22.0 (+1.0) CCE fail 0
UE 4a1c: LCID 1,2,4, goodput DL   12.34 UL    5.67 Mbps
"""
_OF_2026_08 = {
    "cell": 1, "mac_cqi": 15, "mac_ri": 1, "mac_pmi_x2": 3, "mac_dl_goodput_bps": 12.34e6,
    "mac_ul_goodput_bps": 5.67e6, "mac_ul_snr_db": 22.0, "mac_ul_snr_offset_db": 1.0,
}  # fmt: skip

SAMPLES = (
    Sample("2023.w16", "2023-05", _2023, _OF_2023),
    Sample("2024-02", "2024-02", _2024_02, _OF_2024_02),
    Sample("2024-05", "2024-05", _2024_05, _OF_2024_05),
    Sample("2024-09", "2024-09", _2024_09, _OF_2024_09),
    Sample("2025-09", "2025-09", _2025_09, _OF_2025_09),
    Sample("mid 2026", "2026-06", _2026_06, _OF_2026_06),
    Sample("Aug 2026", "2026-08", _2026_08, _OF_2026_08),
)
