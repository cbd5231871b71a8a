# SPDX-License-Identifier: Apache-2.0
"""Figures and the page of a run."""
