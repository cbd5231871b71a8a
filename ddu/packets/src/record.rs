// SPDX-License-Identifier: Apache-2.0
//! A record of a capture, and a step through the file, in either file format.

/// A record that claims more than this is not a packet but damage; the largest that Wireshark takes of any link
/// type is 128 MiB.
pub const LARGEST_RECORD_BYTES: usize = 128 << 20;

/// The header of one captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// UTC, ns since 1970.
    pub utc_ns: i64,
    /// LINKTYPE of the tcpdump registry.
    pub link_type: u32,
    /// Bytes that the frame had.
    pub wirelen: u32,
    /// Bytes of it that the file has.
    pub caplen: u32,
}

/// One step through the file.
pub(crate) enum Step {
    /// A frame: this many bytes of header, then `record.caplen` bytes, then padding up to `length`.
    Frame {
        record: Record,
        header: usize,
        length: usize,
    },
    /// A block of another kind, already taken.
    Other,
    /// The end, or a record that is not whole (yet).
    End,
}
