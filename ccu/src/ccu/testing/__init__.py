# SPDX-License-Identifier: Apache-2.0
"""Tests of an application over 5G in virtual time: the pytest plugin `over5g` (docs/ci.md)."""

from ccu.testing.plugin import over_5g

__all__ = ["over_5g"]
