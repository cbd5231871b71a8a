# SPDX-License-Identifier: Apache-2.0
"""Readers of the output of OpenAirInterface's gNB and UE, of 2023.w16 to 2026."""
