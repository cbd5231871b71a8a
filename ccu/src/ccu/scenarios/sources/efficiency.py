# SPDX-License-Identifier: Apache-2.0
"""An estimate of SINR from a logged CQI or MCS: Shannon's bound at its efficiency plus a loss.

For logs without SINR only. nr-link plays the result by its own model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Bits per symbol of CQI 1 to 15: TS 38.214 table 5.2.2.1-2.
CQI_EFFICIENCY = (
    *(0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305),
    *(3.3223, 3.9023, 4.5234, 5.1152, 5.5547),
)
# Bits per symbol of MCS 0 and up: tables 5.1.3.1-1 (64QAM) and -2 (256QAM), in this order, by the
# table index that OpenAirInterface prints.
MCS_EFFICIENCY: tuple[tuple[float, ...], ...] = (
    (
        *(0.2344, 0.3066, 0.3770, 0.4902, 0.6016, 0.7402, 0.8770, 1.0273, 1.1758, 1.3262),
        *(1.3281, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703, 2.5664, 2.7305, 3.0293),
        *(3.3223, 3.6094, 3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547),
    ),
    (
        *(0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063),
        *(2.5703, 2.7305, 3.0293, 3.3223, 3.6094, 3.9023, 4.2129, 4.5234, 4.8164, 5.1152),
        *(5.3320, 5.5547, 5.8906, 6.2266, 6.5703, 6.9141, 7.1602, 7.4063),
    ),
)
_LOSS_DB = 1.5
"""The loss of coded modulation against the bound: about that of NR's LDPC code at 10 % BLER."""


def sinr_of_cqi(cqi: float) -> float:
    """Return the SINR in dB; NaN for CQI 0, which means out of range."""
    return _sinr_db(CQI_EFFICIENCY, cqi - 1)


def sinr_of_mcs(mcs: float, table: float) -> float:
    """Return the SINR in dB; NaN for an unknown table or index."""
    return _sinr_db(MCS_EFFICIENCY[int(table)], mcs) if table in (0, 1) else math.nan


def _sinr_db(efficiencies: Sequence[float], index: float) -> float:
    if not 0 <= index < len(efficiencies):
        return math.nan
    return 10 * math.log10(2 ** efficiencies[int(index)] - 1) + _LOSS_DB
