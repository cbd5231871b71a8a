# SPDX-License-Identifier: Apache-2.0
"""Sender programs of the user's own, by UDP (docs/congestion-controls.md)."""
