# SPDX-License-Identifier: Apache-2.0
"""Congestion controls: which there are, how one is loaded and removed."""
