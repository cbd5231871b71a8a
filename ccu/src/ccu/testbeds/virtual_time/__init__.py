# SPDX-License-Identifier: Apache-2.0
"""Hosts of a kernel in virtual time, whatever the link between them."""
