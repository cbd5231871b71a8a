# SPDX-License-Identifier: Apache-2.0
"""Carriers in band 78 at 30 kHz: positions of SSB, CORESET 0 and edges (TS 38.104, 38.213)."""

from __future__ import annotations

from dataclasses import dataclass

from ddu.console.problems import refusal

SUBCARRIER_HZ = 30_000
PRB_HZ = 12 * SUBCARRIER_HZ
WIDTHS_PRB = (24, 51, 106, 162, 273)
"""10 (as Hercules has it), 20, 40, 60 and 100 MHz; TS 38.101-1 table 5.3.2-1 has 24 for 10 MHz."""

_SSB_PRB = 20
# TS 38.104 table 5.4.2.1-1, 3 to 24.25 GHz: 3000 MHz + 15 kHz · (N_REF - 600000).
_ARFCN_START, _ARFCN_STEP_HZ = 600_000, 15_000
# TS 38.213 table 13-4: index 2 is 24 PRB from 2 below the SSB, index 11 is 48 PRB from 14 below it.
_CORESET_ZERO = {24: 2}
_CORESET_ZERO_ELSE = 11
# The SSB of 24 PRB and of 106 PRB in OpenAirInterface's own files.
_SSB_HZ = {24: 3_604_800_000}
_SSB_HZ_ELSE = 3_319_680_000
_BAND_78_HZ = (3_300_000_000, 3_800_000_000)
# For wider carriers, which the SSB of 106 PRB would place partly outside the band.
_SSB_HZ_WIDE = 3_450_720_000


@dataclass(frozen=True)
class Carrier:
    prb: int
    ssb_hz: int
    ssb_prb: int
    """The distance in PRBs from the lower edge to the SSB's first."""
    coreset_zero: int

    @property
    def point_a_hz(self) -> int:
        return self.ssb_hz - (self.ssb_prb + _SSB_PRB // 2) * PRB_HZ

    @property
    def centre_hz(self) -> int:
        return self.point_a_hz + self.prb * PRB_HZ // 2

    @property
    def ssb_arfcn(self) -> int:
        return _arfcn(self.ssb_hz)

    @property
    def point_a_arfcn(self) -> int:
        return _arfcn(self.point_a_hz)

    @property
    def ssb_subcarrier(self) -> int:
        """Return the UE's `--ssb`: subcarriers from the lower edge to the SSB's first."""
        return self.ssb_prb * 12

    @property
    def location_and_bandwidth(self) -> int:
        """Return the resource indication value of the whole carrier (TS 38.214, 5.1.2.2.2, N =
        275)."""
        length = self.prb
        if length - 1 <= 275 // 2:
            return 275 * (length - 1)
        return 275 * (275 - length + 1) + 275 - 1

    @property
    def three_quarters(self) -> bool:
        """Return whether to use `-E`, 3/4 of the sampling rate, as for 106 PRB (46.08 MS/s)."""
        return self.prb == 106

    @property
    def sample_rate_hz(self) -> int:
        fft = 1 << (self.prb * 12 - 1).bit_length()
        return fft * SUBCARRIER_HZ * (3 if self.three_quarters else 4) // 4

    @property
    def sib1_tda(self) -> int:
        """Return SIB1's time allocation: the longest within 24 PRB, else 0, the gNB's own
        choice."""
        return 15 if self.prb == 24 else 0


def carrier(prb: int) -> Carrier:
    """Return the carrier of `prb` PRBs. Raises RefusedError."""
    if prb not in WIDTHS_PRB:
        widths = ", ".join(map(str, WIDTHS_PRB))
        raise refusal(
            f"OpenAirInterface has no configuration for {prb} PRB",
            f"choose one of {widths}",
            key="prb",
        )
    ssb_prb = (prb - _SSB_PRB) // 2
    ssb_hz = _SSB_HZ.get(prb, _SSB_HZ_ELSE)
    made = Carrier(prb, ssb_hz, ssb_prb, _CORESET_ZERO.get(prb, _CORESET_ZERO_ELSE))
    if made.point_a_hz < _BAND_78_HZ[0]:
        made = Carrier(prb, _SSB_HZ_WIDE, ssb_prb, made.coreset_zero)
    return made


def _arfcn(hz: int) -> int:
    steps, rest = divmod(hz - 3_000_000_000, _ARFCN_STEP_HZ)
    assert rest == 0
    return _ARFCN_START + steps
