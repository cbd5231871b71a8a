# SPDX-License-Identifier: Apache-2.0
"""Tables of a run, from single observations to the aligned table."""
