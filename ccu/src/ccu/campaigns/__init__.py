# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many runs from one file, resumable after any interruption (docs/campaigns.md)."""
