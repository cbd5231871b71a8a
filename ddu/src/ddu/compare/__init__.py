# SPDX-License-Identifier: Apache-2.0
"""The comparison of runs: how they differ, and how certain that is."""
