# SPDX-License-Identifier: Apache-2.0
"""What a campaign's runs say together (docs/campaigns.md)."""
