# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's rfsim slot by slot, with hosts in virtual time (docs/oai.md)."""
