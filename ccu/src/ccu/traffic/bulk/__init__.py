# SPDX-License-Identifier: Apache-2.0
"""Bulk data by TCP, for a time or of a volume, and UDP at a rate: by iperf3, or by the traffic
program of nr-link in virtual time."""
