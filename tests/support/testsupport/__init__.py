# SPDX-License-Identifier: Apache-2.0
"""Helpers of tests and benchmarks: generated runs, stand-ins, a store."""
