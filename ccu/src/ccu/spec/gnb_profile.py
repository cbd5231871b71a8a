# SPDX-License-Identifier: Apache-2.0
"""The profiles of nr-link's gNB (docs/nr-link-model.md)."""

from __future__ import annotations

from typing import Literal

GnbProfile = Literal["ideal", "oai-2026.w11"]
IDEAL: GnbProfile = "ideal"
MEANING = (
    "nr-link's gNB: ideal uses all that the standard allows, oai-2026.w11 schedules as "
    "OpenAirInterface's does."
)
