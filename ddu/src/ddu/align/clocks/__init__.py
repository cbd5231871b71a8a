# SPDX-License-Identifier: Apache-2.0
"""Clocks of hosts: what they are apart, and how sure that is."""
