# SPDX-License-Identifier: Apache-2.0
"""The run directory: where it is and what its manifest says."""
