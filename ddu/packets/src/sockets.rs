// SPDX-License-Identifier: Apache-2.0
//! Samples of TCP sockets out of a netlink capture of inet_diag answers, one row per socket and sample.

use std::io::Read;

use arrow_array::types::{Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{DictionaryArray, RecordBatch};

use crate::addresses::{Addresses, address_column};
use crate::bytes::{Endian, be16};
use crate::capture::Capture;
use crate::error::{Result, malformed};
use crate::ip::Address;
use crate::link::LINKTYPE_NETLINK;
use crate::netlink;
use crate::socket_fields::{CONG, FIELDS, Field, Kind, MESSAGE};
use crate::table::{Column, table};

const NETLINK_SOCK_DIAG: u16 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// sizeof(struct inet_diag_msg)
const MESSAGE_BYTES: usize = 72;
const AF_INET: u8 = 2;

/// The samples of a file, column by column.
#[derive(Default)]
pub struct Sockets {
    utc_ns: Vec<i64>,
    addresses: Addresses,
    src: Vec<i32>,
    dst: Vec<i32>,
    sport: Vec<u16>,
    dport: Vec<u16>,
    cong: Vec<Option<String>>,
    numbers: Vec<Vec<Option<u64>>>,
    truncated_at: Option<u64>,
}

impl Sockets {
    /// Reads a whole file.
    ///
    /// # Errors
    /// No capture, a capture of something else than netlink, or a damaged one.
    pub fn read(stream: impl Read + Send + 'static) -> Result<Self> {
        let mut capture = Capture::new(stream)?;
        let mut sockets = Self {
            numbers: FIELDS.iter().map(|_| Vec::new()).collect(),
            ..Self::default()
        };
        loop {
            let (offset, endian) = (capture.offset(), capture.endian());
            let Some((record, frame)) = capture.next_record()? else {
                break;
            };
            if record.link_type != LINKTYPE_NETLINK {
                let problem = format!("link type {}, not netlink (253)", record.link_type);
                return malformed(offset, format!("{problem}: these are no socket samples"));
            }
            sockets.push_record(record.utc_ns, endian, frame);
        }
        sockets.truncated_at = capture.truncated_at();
        Ok(sockets)
    }

    fn push_record(&mut self, utc_ns: i64, endian: Endian, frame: &[u8]) {
        let Some((NETLINK_SOCK_DIAG, messages)) = netlink::cooked(frame) else {
            return;
        };
        for (kind, body) in netlink::messages(endian, messages) {
            if kind == SOCK_DIAG_BY_FAMILY && body.len() >= MESSAGE_BYTES {
                self.push(utc_ns, endian, body);
            }
        }
    }

    fn push(&mut self, utc_ns: i64, endian: Endian, answer: &[u8]) {
        let (message, attributes) = answer.split_at(MESSAGE_BYTES);
        self.utc_ns.push(utc_ns);
        self.sport.push(be16(message, 4));
        self.dport.push(be16(message, 6));
        for (at, column) in [(8, &mut self.src), (24, &mut self.dst)] {
            let (version, address) = address(message[0], &message[at..at + 16]);
            column.push(self.addresses.number(version, address));
        }
        let attributes: Vec<_> = netlink::attributes(endian, attributes).collect();
        let find = |wanted: u16| {
            let found = attributes.iter().find(|(kind, _)| *kind == wanted);
            found.map(|(_, value)| *value)
        };
        self.cong.push(find(CONG).map(text));
        for (field, column) in FIELDS.iter().zip(&mut self.numbers) {
            let place = if field.attribute == MESSAGE {
                Some(message)
            } else {
                find(field.attribute)
            };
            column.push(place.and_then(|bytes| field.read(endian, bytes)));
        }
    }

    /// One row per socket and sample, in the order of the file.
    pub fn finish(mut self) -> RecordBatch {
        let addresses = self.addresses.dictionary();
        let cong: DictionaryArray<Int32Type> = self.cong.iter().map(Option::as_deref).collect();
        let mut columns = vec![
            Column::of::<Int64Type>("utc_ns", self.utc_ns),
            address_column("src", self.src, &addresses),
            address_column("dst", self.dst, &addresses),
            Column::of::<UInt16Type>("sport", self.sport),
            Column::of::<UInt16Type>("dport", self.dport),
            Column::new("cong", cong, true),
        ];
        columns.extend(FIELDS.iter().zip(self.numbers).map(number_column));
        table(columns, None)
    }

    /// Returns the offset of the record that the file ends within; None if the file is whole.
    pub fn truncated_at(&self) -> Option<u64> {
        self.truncated_at
    }
}

fn number_column((field, values): (&Field, Vec<Option<u64>>)) -> Column {
    let name = field.name;
    let values = values.into_iter();
    match field.kind {
        Kind::Bits(..) | Kind::U8 => {
            Column::optional::<UInt8Type>(name, values.map(|value| value.map(|v| v as u8)))
        }
        Kind::U16 => {
            Column::optional::<UInt16Type>(name, values.map(|value| value.map(|v| v as u16)))
        }
        Kind::U32 => {
            Column::optional::<UInt32Type>(name, values.map(|value| value.map(|v| v as u32)))
        }
        Kind::U64 | Kind::LowHigh => Column::optional::<UInt64Type>(name, values),
    }
}

/// IP version and address. A socket of family IPv6 may talk IPv4 (RFC 4291, section 2.5.5.2): its packets do.
fn address(family: u8, bytes: &[u8]) -> (u8, Address) {
    const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
    let is_mapped = bytes[..12] == MAPPED;
    let from = if is_mapped { 12 } else { 0 };
    let is_v4 = family == AF_INET || is_mapped;
    let length = if is_v4 { 4 } else { 16 };
    let mut address = [0; 16];
    address[..length].copy_from_slice(&bytes[from..from + length]);
    (if is_v4 { 4 } else { 6 }, address)
}

/// A C string, with or without its end.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
