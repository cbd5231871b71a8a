# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a phone, and the link between it and the server."""
