// SPDX-License-Identifier: Apache-2.0
//! Segmentation of super-packets, compared with etherparse, an independent implementation of the
//! headers.

use std::rc::Rc;

use etherparse::{
    IpHeaders, Ipv4Header, Ipv6Header, NetHeaders, PacketHeaders, TcpHeader, TransportHeader,
    UdpHeader,
};
use etherparse::{IpNumber, Ipv6Extensions, ip_number};
use nr_link::burst::Burst;
use nr_link::merge::write_headers;
use nr_link::pool::Pool;
use nr_link::vnet::{
    GSO_ECN, GSO_NONE, GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, NEEDS_CSUM, VNET_HEADER_BYTES, VnetHeader,
};

const MSS: usize = 1448;

/// The properties of a packet that tests vary.
#[derive(Clone, Copy)]
struct Shape {
    v6: bool,
    sequence: u32,
    identification: u16,
    psh: bool,
    fin: bool,
    cwr: bool,
    ecn: u8,
}

const PLAIN: Shape = Shape {
    v6: false,
    sequence: u32::MAX - 3000,
    identification: 0xfffe,
    psh: true,
    fin: true,
    cwr: true,
    ecn: 2,
};

fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn tcp(shape: &Shape) -> TcpHeader {
    let mut tcp = TcpHeader::new(5201, 40_000, shape.sequence, 64_000);
    (tcp.acknowledgment_number, tcp.ack) = (77, true);
    (tcp.psh, tcp.fin, tcp.cwr) = (shape.psh, shape.fin, shape.cwr);
    tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 3, 4])
        .unwrap(); // timestamps, as Linux sends them
    tcp
}

fn ip(shape: &Shape, protocol: IpNumber, transport_bytes: usize) -> IpHeaders {
    if shape.v6 {
        let mut header = Ipv6Header {
            payload_length: transport_bytes as u16,
            next_header: protocol,
            hop_limit: 64,
            source: [0xfd; 16],
            destination: [0x20; 16],
            ..Default::default()
        };
        header.traffic_class = shape.ecn;
        return IpHeaders::Ipv6(header, Ipv6Extensions::default());
    }
    let (source, destination) = ([10, 45, 0, 2], [192, 168, 1, 255]);
    let mut header =
        Ipv4Header::new(transport_bytes as u16, 64, protocol, source, destination).unwrap();
    header.identification = shape.identification;
    header.ecn = etherparse::IpEcn::try_new(shape.ecn).unwrap();
    header.header_checksum = header.calc_header_checksum();
    IpHeaders::Ipv4(header, Default::default())
}

/// Makes a complete TCP packet with its checksum.
fn tcp_packet(shape: &Shape, payload: &[u8]) -> Vec<u8> {
    let mut tcp = tcp(shape);
    let ip = ip(shape, ip_number::TCP, tcp.header_len() + payload.len());
    tcp.checksum = match &ip {
        IpHeaders::Ipv4(header, _) => tcp.calc_checksum_ipv4(header, payload).unwrap(),
        IpHeaders::Ipv6(header, _) => tcp.calc_checksum_ipv6(header, payload).unwrap(),
    };
    let mut bytes = Vec::new();
    ip.write(&mut bytes).unwrap();
    tcp.write(&mut bytes).unwrap();
    bytes.extend(payload);
    bytes
}

fn udp_packet(shape: &Shape, payload: &[u8]) -> Vec<u8> {
    let ip = ip(shape, ip_number::UDP, UdpHeader::LEN + payload.len());
    let udp = match &ip {
        IpHeaders::Ipv4(header, _) => {
            UdpHeader::with_ipv4_checksum(5201, 40_000, header, payload).unwrap()
        }
        IpHeaders::Ipv6(header, _) => {
            UdpHeader::with_ipv6_checksum(5201, 40_000, header, payload).unwrap()
        }
    };
    let mut bytes = Vec::new();
    ip.write(&mut bytes).unwrap();
    udp.write(&mut bytes).unwrap();
    bytes.extend(payload);
    bytes
}

/// Returns the sum of a pseudo-header by RFC 9293 section 3.1, as the kernel leaves it to be
/// completed.
fn pseudo_header_sum(packet: &[u8], transport_at: usize, protocol: u8) -> u16 {
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    let length = (packet.len() - transport_at) as u32;
    ones_complement_sum(addresses, u32::from(protocol) + length)
}

fn ones_complement_sum(bytes: &[u8], start: u32) -> u16 {
    let mut sum = u64::from(start);
    for pair in bytes.chunks(2) {
        sum += u64::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Makes a burst as if read from a TUN device.
fn burst(mut packet: Vec<u8>, gso_type: u8, gso_bytes: usize) -> Rc<Burst> {
    let transport_at = if packet[0] >> 4 == 4 { 20 } else { 40 };
    let (protocol, csum_offset) = if gso_type == GSO_UDP_L4 {
        (17, 6)
    } else {
        (6, 16)
    };
    let sum = pseudo_header_sum(&packet, transport_at, protocol);
    packet[transport_at + csum_offset..][..2].copy_from_slice(&sum.to_be_bytes());
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type,
        header_bytes: 0,
        gso_bytes: gso_bytes as u16,
        csum_start: transport_at as u16,
        csum_offset: csum_offset as u16,
    };
    read(&[&vnet.to_bytes(), &packet[..]].concat())
}

fn read(bytes: &[u8]) -> Rc<Burst> {
    Rc::new(parse(bytes).expect("a packet"))
}

fn parse(bytes: &[u8]) -> Option<Burst> {
    let pool = Pool::default();
    let mut scratch = pool.scratch();
    scratch.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    Burst::parse(pool.keep(&mut scratch, bytes.len()))
}

/// Returns the virtio header and packet that are written to the receiving device.
fn written(burst: &Burst, first: usize, count: usize, congestion: bool) -> (VnetHeader, Vec<u8>) {
    let mut bytes = Vec::new();
    write_headers(burst, first, count, congestion, &mut bytes);
    bytes.extend(burst.payload(first, count));
    let packet = bytes.split_off(VNET_HEADER_BYTES);
    (VnetHeader::from_bytes(bytes.first_chunk().unwrap()), packet)
}

/// Completes the checksum of a packet, as the receiving kernel or its capture does.
fn completed(vnet: VnetHeader, mut packet: Vec<u8>) -> Vec<u8> {
    assert_eq!(vnet.flags, NEEDS_CSUM);
    let start = usize::from(vnet.csum_start);
    let checksum = !ones_complement_sum(&packet[start..], 0);
    packet[start + usize::from(vnet.csum_offset)..][..2].copy_from_slice(&checksum.to_be_bytes());
    packet
}

#[test]
fn every_segment_is_the_packet_that_an_independent_sender_would_have_sent() {
    for v6 in [false, true] {
        let shape = Shape { v6, ..PLAIN };
        let data = payload(5 * MSS + 100);
        let gso_type = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
        let burst = burst(tcp_packet(&shape, &data), gso_type | GSO_ECN, MSS);
        assert_eq!(burst.segment_count(), 6);
        for (i, part) in data.chunks(MSS).enumerate() {
            let expected = tcp_packet(
                &Shape {
                    sequence: shape.sequence.wrapping_add((i * MSS) as u32),
                    identification: shape.identification.wrapping_add(i as u16),
                    psh: i == 5,
                    fin: i == 5,
                    cwr: i == 0,
                    ..shape
                },
                part,
            );
            let (vnet, packet) = written(&burst, i, 1, false);
            assert_eq!((vnet.gso_type, vnet.gso_bytes), (GSO_NONE, 0));
            assert_eq!(completed(vnet, packet), expected, "segment {i}, IPv6: {v6}");
        }
    }
}

#[test]
fn consecutive_segments_leave_as_a_super_packet_with_the_same_segments() {
    let data = payload(7 * MSS + 1);
    let whole = burst(tcp_packet(&PLAIN, &data), GSO_TCPV4 | GSO_ECN, MSS);
    for (first, count) in [(0, 8), (0, 3), (2, 4), (3, 5)] {
        let (vnet, packet) = written(&whole, first, count, false);
        assert_eq!(
            vnet.gso_type,
            if first == 0 {
                GSO_TCPV4 | GSO_ECN
            } else {
                GSO_TCPV4
            }
        );
        assert_eq!(usize::from(vnet.gso_bytes), MSS);
        PacketHeaders::from_ip_slice(&packet).unwrap(); // lengths agree
        let part = read(&[&vnet.to_bytes(), &packet[..]].concat());
        assert_eq!(part.segment_count(), count);
        for i in 0..count {
            let (once, twice) = (
                written(&whole, first + i, 1, false),
                written(&part, i, 1, false),
            );
            assert_eq!(
                completed(once.0, once.1),
                completed(twice.0, twice.1),
                "{first}+{i} of {count}"
            );
        }
    }
}

#[test]
fn udp_datagrams_of_a_burst_are_whole_datagrams() {
    for v6 in [false, true] {
        let shape = Shape {
            v6,
            identification: 7,
            ..PLAIN
        };
        let data = payload(3 * 1000 + 20);
        let burst = burst(udp_packet(&shape, &data), GSO_UDP_L4, 1000);
        for (i, part) in data.chunks(1000).enumerate() {
            let (vnet, packet) = written(&burst, i, 1, false);
            let expected = udp_packet(
                &Shape {
                    identification: 7 + i as u16,
                    ..shape
                },
                part,
            );
            assert_eq!(
                completed(vnet, packet),
                expected,
                "datagram {i}, IPv6: {v6}"
            );
        }
    }
}

#[test]
fn a_plain_packet_leaves_unchanged() {
    let packet = tcp_packet(&PLAIN, b"hello");
    let whole = read(&[&VnetHeader::default().to_bytes(), &packet[..]].concat());
    assert_eq!(whole.segment_count(), 1);
    assert_eq!(
        written(&whole, 0, 1, false),
        (VnetHeader::default(), packet)
    );
}

#[test]
fn congestion_is_marked_in_the_ip_header_only() {
    for v6 in [false, true] {
        let shape = Shape { v6, ..PLAIN };
        let gso_type = if v6 { GSO_TCPV6 } else { GSO_TCPV4 };
        let burst = burst(tcp_packet(&shape, &payload(2 * MSS)), gso_type, MSS);
        let (vnet, packet) = written(&burst, 0, 2, true);
        let expected = tcp_packet(&Shape { ecn: 3, ..shape }, &payload(2 * MSS));
        let marked = PacketHeaders::from_ip_slice(&packet).unwrap();
        match (marked.net.unwrap(), marked.transport.unwrap()) {
            (NetHeaders::Ipv4(ip, _), TransportHeader::Tcp(_)) => {
                assert_eq!(ip.ecn.value(), 3);
                assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            }
            (NetHeaders::Ipv6(ip, _), TransportHeader::Tcp(_)) => assert_eq!(ip.traffic_class, 3),
            other => panic!("{other:?}"),
        }
        assert_eq!(completed(vnet, packet), expected);
    }
}

#[test]
fn the_model_gets_the_length_and_ecn_of_each_segment() {
    let burst = burst(tcp_packet(&PLAIN, &payload(2 * MSS + 10)), GSO_TCPV4, MSS);
    let packets: Vec<_> = Rc::clone(&burst).segments().collect();
    let lengths: Vec<u32> = packets.iter().map(|packet| packet.bytes).collect();
    assert_eq!(lengths, [1500, 1500, 62]);
    assert!(
        packets
            .iter()
            .all(|packet| packet.ecn == nr_link_model::Ecn::Ect0)
    );
}

#[test]
fn invalid_packets_are_rejected_and_never_panic() {
    let vnet = |gso_type, csum_start, csum_offset| {
        VnetHeader {
            flags: NEEDS_CSUM,
            gso_type,
            gso_bytes: 1,
            csum_start,
            csum_offset,
            header_bytes: 0,
        }
        .to_bytes()
    };
    let packet = tcp_packet(&PLAIN, &payload(40));
    for gso_type in [0, 1, 3, 4, 5, 0x81, 0xff] {
        for csum_start in [0, 20, 47, 60, 91, 92, 600, u16::MAX] {
            for csum_offset in [0, 16, 31, 32, u16::MAX] {
                for length in [0, 1, 19, 20, 40, packet.len()] {
                    let header = vnet(gso_type, csum_start, csum_offset);
                    let Some(burst) = parse(&[&header[..], &packet[..length]].concat()) else {
                        continue;
                    };
                    for i in 0..burst.segment_count() {
                        written(&burst, i, 1, true);
                    }
                }
            }
        }
    }
    assert!(parse(&[0; VNET_HEADER_BYTES]).is_none());
    assert!(
        parse(&[&[0; VNET_HEADER_BYTES][..], &[0x20; 40]].concat()).is_none(),
        "IP version 2"
    );
}
