# SPDX-License-Identifier: Apache-2.0
"""The profiles of nr-link's gNB (docs/nr-link-model.md)."""

from __future__ import annotations

from typing import Literal

GnbProfile = Literal["ideal", "oai-2025.w36", "oai-2026.w11"]
IDEAL: GnbProfile = "ideal"
MEANING = (
    "nr-link's gNB: ideal uses all that the standard allows, oai-2025.w36 and oai-2026.w11 are "
    "those versions of OpenAirInterface's."
)
