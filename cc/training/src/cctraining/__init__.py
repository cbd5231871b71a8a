# SPDX-License-Identifier: Apache-2.0
"""Trains the learned policies (docs/congestion-controls.md)."""
