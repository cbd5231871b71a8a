# SPDX-License-Identifier: Apache-2.0
"""QUIC by several implementations, with qlog (docs/quic.md)."""
