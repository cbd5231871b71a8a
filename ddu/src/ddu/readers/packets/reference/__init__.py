# SPDX-License-Identifier: Apache-2.0
"""The reference packet reader: the same captures by dpkt, slowly and independently."""

from ddu.readers.packets.reference.packets import read
from ddu.readers.packets.reference.split import ReferenceConnections

__all__ = ["read", "split"]

split = ReferenceConnections
