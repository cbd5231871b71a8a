# SPDX-License-Identifier: Apache-2.0
"""Runs in PostgreSQL, for the dashboards (docs/dashboards.md).

The run directory stays the truth: a store can be thrown away and filled again.
"""
