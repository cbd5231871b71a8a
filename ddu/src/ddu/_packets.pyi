# SPDX-License-Identifier: Apache-2.0
"""The native reader (ddu/packets). Use it through ddu.packets and ddu.sockets."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import final

IPAddress = IPv4Address | IPv6Address

class CaptureError(ValueError):
    """What is wrong with a capture, and at which byte."""

@final
class Batch:
    """A table that pyarrow.record_batch takes over without a copy."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@final
class PacketReader:
    """Reads packets batch by batch. Raises OSError and CaptureError."""

    def __new__(cls, path: Path, columns: list[str] | None, batch_packets: int) -> PacketReader: ...
    def next_batch(self) -> Batch | None: ...
    def flows(self) -> Batch: ...
    @property
    def skipped_count(self) -> int: ...
    @property
    def truncated_at(self) -> int | None: ...

@final
class Split:
    """A capture split into connections."""

    @property
    def flows(self) -> Batch: ...
    @property
    def packet_count(self) -> int: ...
    @property
    def truncated_at(self) -> int | None: ...
    def connection(self, flow: int) -> tuple[Batch, Batch, Batch, Batch, int, int] | None: ...

def split(
    path: Path,
    wanted: list[tuple[IPAddress, int | None, IPAddress, int | None, bool, bool]],
    mtu_bytes: int,
) -> Split: ...
def no_packets() -> Batch: ...
def no_flows() -> Batch: ...
def read_sockets(path: Path) -> tuple[Batch, int | None]: ...
