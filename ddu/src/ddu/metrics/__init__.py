# SPDX-License-Identifier: Apache-2.0
"""Metrics of flows and runs: algorithms on packets, and in declared/ the declarations."""
