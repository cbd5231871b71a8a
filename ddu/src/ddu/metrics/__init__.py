# SPDX-License-Identifier: Apache-2.0
"""What two captures say about a flow. docs/metrics.md defines each metric."""
