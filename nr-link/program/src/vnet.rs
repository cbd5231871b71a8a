// SPDX-License-Identifier: Apache-2.0
//! The header before each packet of a TUN device with IFF_VNET_HDR: `struct virtio_net_hdr` (virtio 1.2 section
//! 5.1.6, legacy form), in the machine's byte order.

/// Length of the header without its `num_buffers` field, as TUN uses it by default.
pub const VNET_HEADER_BYTES: usize = 10;

/// The checksum from `csum_start` on is not complete; its field holds the sum of the pseudo-header.
pub const NEEDS_CSUM: u8 = 1;

/// One packet, not to be segmented.
pub const GSO_NONE: u8 = 0;
/// TCP over IPv4, to be segmented.
pub const GSO_TCPV4: u8 = 1;
/// TCP over IPv6, to be segmented.
pub const GSO_TCPV6: u8 = 4;
/// UDP datagrams of equal size, to be segmented.
pub const GSO_UDP_L4: u8 = 5;
/// Added to a TCP type: the first segment carries CWR.
pub const GSO_ECN: u8 = 0x80;

/// Metadata of a packet or super-packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// [`NEEDS_CSUM`] or other flags.
    pub flags: u8,
    /// One of the `GSO_…` types.
    pub gso_type: u8,
    /// Length of the headers that each segment repeats; a hint.
    pub header_bytes: u16,
    /// Payload bytes of each segment but the last.
    pub gso_bytes: u16,
    /// Offset of the part that the checksum covers, from the transport header on.
    pub csum_start: u16,
    /// Offset of the checksum field from there.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// Parses the first bytes of a read from TUN.
    pub fn from_bytes(bytes: &[u8; VNET_HEADER_BYTES]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_bytes: word(2),
            gso_bytes: word(4),
            csum_start: word(6),
            csum_offset: word(8),
        }
    }

    /// Returns the bytes to write to TUN.
    pub fn to_bytes(self) -> [u8; VNET_HEADER_BYTES] {
        let mut bytes = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [
            self.header_bytes,
            self.gso_bytes,
            self.csum_start,
            self.csum_offset,
        ];
        for (field, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            field.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}
