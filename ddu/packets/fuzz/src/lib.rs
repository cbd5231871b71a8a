// SPDX-License-Identifier: Apache-2.0
//! The laws that hold for any content of a capture. The fuzz targets try contents of their own; tests/packets/fuzz_seeds.rs tries
//! those that are kept.

use std::io::{Cursor, Read};

use arrow_array::RecordBatch;
use ddu_packets::packet::{Packet, Transport};
use ddu_packets::reader::PacketReader;
use ddu_packets::sockets::Sockets;
use ddu_packets::split::Splitter;
use ddu_packets::wanted::Wanted;

const BATCH_PACKETS: usize = 64;
const MTU_BYTES: u32 = 1500;

/// A stream that gives a few bytes at a time, as one does that is still being written.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(self.1);
        self.1 = self.1 % 7 + 1;
        self.0.read(&mut into[..most])
    }
}

/// The result of reading a file, or the error in words.
#[derive(Debug, PartialEq)]
struct Outcome {
    batches: Vec<RecordBatch>,
    flows: Option<RecordBatch>,
    skipped_count: u64,
    truncated_at: Option<u64>,
    error: Option<String>,
}

impl Outcome {
    fn is_broken(&self) -> bool {
        let error = self.error.as_deref().unwrap_or_default();
        error.contains("cannot be decompressed")
    }
}

/// A capture, plain or compressed: however its bytes come, the packets are the same, and as many as are split up.
pub fn capture(content: &[u8]) {
    let at_once = read(Cursor::new(content.to_vec()));
    let dripping = read(Drip(Cursor::new(content.to_vec()), 3));
    if at_once.is_broken() || dripping.is_broken() {
        return; // how much of a corrupt stream comes out before it is noticed depends on the portions
    }
    assert_eq!(at_once, dripping);
    let rows: usize = at_once.batches.iter().map(RecordBatch::num_rows).sum();
    if let Some(error) = &at_once.error {
        assert!(!error.is_empty());
        return;
    }
    let counted = at_once.flows.map_or(0, |flows| flows.num_rows());
    assert!(counted <= rows);
    assert_eq!(split(content), rows as u64);
}

fn read(stream: impl Read + Send + 'static) -> Outcome {
    let mut outcome = Outcome {
        batches: Vec::new(),
        flows: None,
        skipped_count: 0,
        truncated_at: None,
        error: None,
    };
    let mut reader = match PacketReader::new(stream, None, BATCH_PACKETS) {
        Ok(reader) => reader,
        Err(error) => {
            outcome.error = Some(error.to_string());
            return outcome;
        }
    };
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => outcome.batches.push(batch),
            Ok(None) => break,
            Err(error) => {
                outcome.error = Some(error.to_string());
                break;
            }
        }
    }
    outcome.flows = Some(reader.flows());
    outcome.skipped_count = reader.skipped_count();
    if outcome.error.is_none() {
        outcome.truncated_at = reader.truncated_at(); // meaningful at the end of the file only
    }
    outcome
}

/// Packets that the splitter saw; every connection that it kept has columns of one length.
fn split(content: &[u8]) -> u64 {
    let any = |version: &str| Wanted {
        src: version.parse().expect("an address"),
        sport: None,
        dst: version.parse().expect("an address"),
        dport: None,
        payload: true,
        acks: true,
    };
    let wanted = ["10.0.0.1", "::1"].map(any).to_vec();
    let stream = Cursor::new(content.to_vec());
    let mut splitter = Splitter::new(stream, wanted, MTU_BYTES).expect("the reader could");
    while splitter.read(BATCH_PACKETS).expect("the reader could") {}
    let split = splitter.finish();
    assert_eq!(split.connections.len(), split.flows.num_rows());
    split.packet_count
}

/// One frame: two bytes of link type, two of the length that it had, then what was captured of it.
pub fn frame(content: &[u8]) {
    let Some((head, frame)) = content.split_at_checked(4) else {
        return;
    };
    let link_type = u32::from(u16::from_be_bytes([head[0], head[1]]));
    let missing = u32::from(u16::from_be_bytes([head[2], head[3]]));
    let Some(packet) = Packet::parse(link_type, frame, frame.len() as u32 + missing) else {
        return;
    };
    match packet.transport {
        Transport::Tcp(tcp) => {
            assert!(tcp.payload_bytes <= packet.ip.ip_bytes);
            assert!(tcp.options.sack_count <= tcp.options.sack.len());
            assert!(packet.ports.is_some());
        }
        Transport::Udp(_, datagram) => assert!(datagram.len() <= frame.len()),
        Transport::Unknown => {}
    }
}

/// Samples of sockets: a table or an error in words.
pub fn sockets(content: &[u8]) {
    match Sockets::read(Cursor::new(content.to_vec())) {
        Ok(samples) => {
            let cut_at = samples.truncated_at();
            assert!(cut_at.is_none_or(|offset| offset <= content.len() as u64 * 1024));
            samples.finish();
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
