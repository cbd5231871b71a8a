# SPDX-License-Identifier: Apache-2.0
"""Congestion controls in Python for Linux TCP (docs/congestion-controls.md).

A policy is a class with a method `report(self, flow, report)`. The kernel reports what ACKs say;
the policy sets the flow's window and pacing rate. It needs the standard library only.
"""

from ccplane.abi import LOSS, RECOVERY, Report
from ccplane.flow import Flow

__all__ = ["LOSS", "RECOVERY", "Flow", "Report"]
