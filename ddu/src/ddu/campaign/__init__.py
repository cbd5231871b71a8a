# SPDX-License-Identifier: Apache-2.0
"""The joint analysis of a campaign's runs (docs/campaigns.md)."""
