// SPDX-License-Identifier: Apache-2.0
//! Numbers out of bytes. The caller has checked the length; networks are big-endian, files are what they say.

/// Byte order of the machine that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let number = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(number),
            Self::Big => u16::from_be_bytes(number),
        }
    }

    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let number = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Self::Little => u32::from_le_bytes(number),
            Self::Big => u32::from_be_bytes(number),
        }
    }

    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (self.u32(bytes, at), self.u32(bytes, at + 4));
        let (high, low) = match self {
            Self::Little => (second, first),
            Self::Big => (first, second),
        };
        u64::from(high) << 32 | u64::from(low)
    }
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    Endian::Big.u16(bytes, at)
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    Endian::Big.u32(bytes, at)
}
