// SPDX-License-Identifier: Apache-2.0
//! The throughput of super-packets on one core: through the kernel alone, and through a link of
//! unlimited capacity.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, unshare};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Link, ResolvedConfig, Source};

use crate::burst::Segment;
use crate::clock::{Clock, cpu_time};
use crate::forward::{Devices, Routes};
use crate::netns::{Namespace, NamespaceRef};
use crate::pool::Pool;
use crate::trust::Trust;
use crate::tun::Tun;
use crate::vnet::{GSO_TCPV4, NEEDS_CSUM, VNET_HEADER_BYTES, VnetHeader};

const DURATION: Duration = Duration::from_secs(1);
const MTU_BYTES: u32 = 1500;
const SEGMENT_BYTES: u16 = 1460;
const SEGMENTS: usize = 44; // fills a super-packet of 64 KiB
const HEADER_BYTES: usize = 40;

/// A capacity of 100 Gbit/s, more than a core carries.
const SCENARIO: &str = "{schema: rf-scenario/1, name: s, summary: s, sources: [chosen], license: Apache-2.0, \
    duration_s: 60, capacity: {dl: {constant_mbps: 100000}, ul: {constant_mbps: 100000}}}";
const CONFIG: &str = "{schema: nr-link/1, seed: 1, mtu_bytes: 1500, scenario: s.yaml, \
    path: {dl: {delay_ms: 1}, ul: {delay_ms: 1}}, queue: {dl: {bytes: 20000000}, ul: {bytes: 20000000}}, \
    samples: {interval_ms: 10}, devices: {core: {name: selftest1}, ue: [{name: selftest2}]}, \
    output: {mac: m, link: l, summary: s}}";

/// Throughput in Gbit/s of IP packets per core, without the receiver's TCP.
#[derive(Debug, Clone, Copy)]
pub struct Throughput {
    /// Packets go from one device to another and into this program, the limit of any link.
    pub raw_gbps_per_core: f64,
    /// Packets also go through the model, with a scenario of capacity, and out of a third device.
    pub link_gbps_per_core: f64,
}

impl Throughput {
    /// Moves this process into a new network namespace, and measures.
    pub fn measure() -> Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)
            .context("a network namespace for the test needs CAP_SYS_ADMIN; run nr-link as root")?;
        let mut from = Tun::open("selftest0", NamespaceRef::Current, MTU_BYTES)?;
        let mut core = Tun::open("selftest1", NamespaceRef::Current, MTU_BYTES)?;
        from.set_address([10, 0, 0, 1])?;
        core.set_address([10, 0, 1, 1])?;
        fs::write("/proc/sys/net/ipv4/ip_forward", "1").context("switching forwarding on")?;
        let raw_gbps_per_core = raw(&mut from, &mut core)?;
        let behind = Namespace::create()?;
        let ue = Tun::open("selftest2", NamespaceRef::Owned(&behind), MTU_BYTES)?;
        Ok(Self {
            raw_gbps_per_core,
            link_gbps_per_core: through_a_link(&mut from, core, ue)?,
        })
    }
}

fn raw(from: &mut Tun, to: &mut Tun) -> Result<f64> {
    let pool = Pool::default();
    let (mut scratch, packet) = (pool.scratch(), super_packet());
    gbps_per_core(|| {
        from.write(&packet, &[])?;
        let mut bytes = 0;
        while let Some(buffer) = to.read(&mut scratch, &pool)? {
            bytes += buffer.len() as u64;
        }
        Ok(bytes)
    })
}

fn through_a_link(from: &mut Tun, core: Tun, ue: Tun) -> Result<f64> {
    let config = ResolvedConfig::parse(CONFIG, Path::new("selftest"))?;
    let scenario = Scenario::parse(SCENARIO, Path::new("selftest"))?;
    let source = Source::of(&scenario, &config)?;
    let mut link: Link<Segment> = Link::new(&config, source)?;
    let mut devices = Devices::new(core, vec![ue], Routes::of(&config)?, config.gro);
    let (clock, packet) = (Clock::start()?, super_packet());
    let mut trust = Trust::new(link.slot_length());
    gbps_per_core(|| {
        from.write(&packet, &[])?;
        devices.read_into(&mut link, 0, || clock.now(), &mut trust)?;
        link.advance(clock.now());
        link.samples();
        let due = std::iter::from_fn(|| link.dequeue());
        devices.write(due, &clock, &mut trust)?;
        Ok(trust.end_interval().delivered_bytes.iter().sum())
    })
}

/// Repeats `carry`, which returns the bytes it carried, for [`DURATION`].
fn gbps_per_core(mut carry: impl FnMut() -> Result<u64>) -> Result<f64> {
    let (started, cpu_ns) = (Instant::now(), cpu_time()?);
    let mut bytes = 0;
    while started.elapsed() < DURATION {
        bytes += carry()?;
    }
    Ok(bytes as f64 * 8.0 / (cpu_time()? - cpu_ns) as f64)
}

/// Makes a super-packet from a host behind the first device to one behind the second.
fn super_packet() -> Vec<u8> {
    let payload_bytes = SEGMENTS * usize::from(SEGMENT_BYTES);
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type: GSO_TCPV4,
        header_bytes: HEADER_BYTES as u16,
        gso_bytes: SEGMENT_BYTES,
        csum_start: 20,
        csum_offset: 16,
    };
    let mut packet = vnet.to_bytes().to_vec();
    packet.extend([0x45, 0]); // IPv4 without options
    packet.extend(((HEADER_BYTES + payload_bytes) as u16).to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]); // don't fragment, 64 hops, TCP
    packet.extend([10, 0, 0, 2, 10, 0, 1, 2]);
    let checksum = crate::merge::ipv4_checksum(&packet[VNET_HEADER_BYTES..]);
    packet[20..22].copy_from_slice(&checksum.to_be_bytes());
    packet.extend([0x14, 0x51, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 1]); // ports, sequence number, acknowledgement number
    packet.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]); // 20 bytes, ACK, window
    packet.resize(packet.len() + payload_bytes, 0);
    packet
}
