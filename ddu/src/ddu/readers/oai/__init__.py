# SPDX-License-Identifier: Apache-2.0
"""What OpenAirInterface's gNB and UE print, of 2023.w16 to 2026, as tables."""
