# SPDX-License-Identifier: Apache-2.0
"""The declarations of the metrics, in the order of the columns of the transport table."""
