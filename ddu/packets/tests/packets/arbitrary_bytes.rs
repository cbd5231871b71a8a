// SPDX-License-Identifier: Apache-2.0
//! Whatever stands in a file: an error or a table, but no panic, and no packet that the file does not have.

use std::io::Cursor;

use ddu_packets::error::Result;
use ddu_packets::packet::Packet;
use ddu_packets::reader::PacketReader;
use ddu_packets::sockets::Sockets;
use proptest::prelude::*;

const LINK_TYPES: [u32; 10] = [0, 1, 12, 101, 108, 113, 228, 229, 253, 276];
const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;

fn pcap(link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let mut file = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 1 << 18, link_type]);
    for frame in frames {
        let length = frame.len() as u32;
        file.extend(words(&[1, 2, length, length]));
        file.extend(frame);
    }
    file
}

fn read(file: Vec<u8>) -> Result<(usize, u64, Option<u64>)> {
    let mut reader = PacketReader::new(Cursor::new(file), None, 4)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    assert!(reader.flows().num_rows() <= rows);
    Ok((rows, reader.skipped_count(), reader.truncated_at()))
}

/// Frames that look enough like packets to get deep into the parsers.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let version = prop_oneof![Just(0x45_u8), Just(0x4f), Just(0x60), any::<u8>()];
    let proto = prop_oneof![
        Just(6_u8),
        Just(17),
        Just(44),
        Just(0),
        Just(51),
        any::<u8>()
    ];
    (version, proto, prop::collection::vec(any::<u8>(), 0..200)).prop_map(
        |(version, proto, rest)| {
            let mut frame = vec![version];
            frame.extend(rest);
            for at in [6, 9] {
                if let Some(byte) = frame.get_mut(at) {
                    *byte = proto;
                }
            }
            frame
        },
    )
}

/// GTP-U around a frame: UDP to port 2152 in IPv4.
fn tunnelled(flags: u8, inner: &[u8]) -> Vec<u8> {
    let length = (28 + 8 + inner.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([
        0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 8, 104, 8, 104,
    ]);
    packet.extend((length - 20).to_be_bytes());
    packet.extend([0, 0, 0x30 | flags & 0x0f, 255, 0, 1, 0, 0, 0, 9]);
    packet.extend(inner);
    packet
}

proptest! {
    #[test]
    fn any_file(magic in 0..5_usize, rest in prop::collection::vec(any::<u8>(), 0..600)) {
        let magics: [&[u8]; 5] = [
            &[0x4d, 0x3c, 0xb2, 0xa1],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
            &[0x1f, 0x8b, 8, 0],
            &[0x28, 0xb5, 0x2f, 0xfd],
            &[],
        ];
        let file = [magics[magic], &rest].concat();
        let _ = read(file.clone());
        let _ = Sockets::read(Cursor::new(file)).map(Sockets::finish);
    }

    #[test]
    fn any_frame_of_any_link(
        link in 0..LINK_TYPES.len(),
        frames in prop::collection::vec(frame(), 0..6),
        flags in any::<u8>(),
    ) {
        let frames: Vec<_> = frames.iter().flat_map(|f| [f.clone(), tunnelled(flags, f)]).collect();
        let file = pcap(LINK_TYPES[link], &frames);
        if let Ok((rows, skipped_count, truncated_at)) = read(file.clone()) {
            prop_assert_eq!(rows as u64 + skipped_count, frames.len() as u64);
            prop_assert_eq!(truncated_at, None);
        }
        let _ = Sockets::read(Cursor::new(file)).map(Sockets::finish);
    }

    #[test]
    fn a_cut_at_any_byte_takes_only_what_is_cut(
        frames in prop::collection::vec(frame(), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let file = pcap(101, &frames);
        let end = FILE_HEADER_BYTES + cut.index(file.len() - FILE_HEADER_BYTES + 1);
        let (mut whole_frames, mut whole_bytes) = (0, FILE_HEADER_BYTES);
        for frame in &frames {
            if whole_bytes + RECORD_HEADER_BYTES + frame.len() <= end {
                whole_bytes += RECORD_HEADER_BYTES + frame.len();
                whole_frames += 1;
            } else {
                break;
            }
        }
        let (rows, skipped_count, truncated_at) = read(file[..end].to_vec()).unwrap();
        prop_assert_eq!(rows as u64 + skipped_count, whole_frames);
        prop_assert_eq!(truncated_at, (whole_bytes < end).then_some(whole_bytes as u64));
    }

    #[test]
    fn a_packet_cut_by_the_snap_length_says_less_and_nothing_else(bytes in frame(), cut in any::<prop::sample::Index>()) {
        let wirelen = bytes.len() as u32;
        let shorter = Packet::parse(101, &bytes[..cut.index(bytes.len() + 1)], wirelen);
        if let (Some(shorter), Some(whole)) = (shorter, Packet::parse(101, &bytes, wirelen)) {
            prop_assert_eq!(shorter.ip.src, whole.ip.src);
            prop_assert!(shorter.ports.is_none() || shorter.ports == whole.ports);
        }
    }
}
