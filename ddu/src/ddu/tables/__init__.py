# SPDX-License-Identifier: Apache-2.0
"""The tables of a run."""
