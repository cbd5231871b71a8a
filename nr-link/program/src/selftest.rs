// SPDX-License-Identifier: Apache-2.0
//! What this machine can hold, measured as a link would use it: how late it wakes us, and how fast packets cross.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, unshare};
use nr_link_model::Nanos;
use serde_json::{Value, json};

use crate::clock::{Clock, cpu_time};
use crate::netns::Place;
use crate::output::us;
use crate::pool::Pool;
use crate::priority;
use crate::trust::Trust;
use crate::tun::Tun;
use crate::verdict::judge;
use crate::vnet::{GSO_TCPV4, NEEDS_CSUM, VnetHeader};
use crate::wake::{Event, STOPPED, Waker};

/// A slot of numerology 1.
const SLOT_NS: Nanos = 500_000;
const CROSSING: Duration = Duration::from_secs(1);
const MTU_BYTES: u32 = 1500;
const SEGMENT_BYTES: u16 = 1460;
const SEGMENTS: usize = 44; // as many as a super-packet of 64 KiB holds
const HEADER_BYTES: usize = 40;

/// Wakes for every slot of `duration`, then lets super-packets cross the kernel for a second.
pub fn run(duration: Duration) -> Result<Value> {
    let granted = priority::raise();
    let (slots, trust) = wake_for_slots(duration)?;
    let (lateness, counted) = trust.whole_run();
    let (verdict, reasons) = judge(slots, SLOT_NS, lateness, counted);
    let crossing = crossing()?;
    Ok(json!({
        "event": "selftest",
        "verdict": verdict.name(),
        "verdict_reasons": reasons,
        "slot_us": us(SLOT_NS),
        "slots": slots,
        "overrun_count": counted.overruns,
        "lateness_p50_us": lateness.map(|lateness| us(lateness.p50_ns)),
        "lateness_p99_us": lateness.map(|lateness| us(lateness.p99_ns)),
        "lateness_max_us": lateness.map(|lateness| us(lateness.max_ns)),
        "crossing_gbps_per_core": crossing,
        "scheduling": granted.scheduling,
        "memory_locked": granted.memory_locked,
    }))
}

fn wake_for_slots(duration: Duration) -> Result<(u64, Trust)> {
    let mut waker = Waker::new(&STOPPED)?;
    let clock = Clock::start()?;
    let mut trust = Trust::new(SLOT_NS);
    let last = duration.as_nanos() as Nanos / SLOT_NS;
    let (mut slot, mut ended) = (1, false);
    while slot <= last && !ended {
        let deadline = slot * SLOT_NS;
        waker.sleep(None, clock.deadline(deadline), |event| {
            ended |= matches!(event, Event::Signal(_))
        })?;
        let now = clock.now();
        trust.ran(deadline, now);
        slot = (now / SLOT_NS).max(slot) + 1; // the model catches up on missed slots at once
    }
    trust.end_interval();
    Ok((slot - 1, trust))
}

/// Gbit/s of CPU time for super-packets that enter the kernel at one device and leave it at another: the limit of
/// one core's link, of which the model takes its share. The receiver's TCP is not in it.
fn crossing() -> Result<f64> {
    // This process's own namespace from here on; it vanishes with the process.
    unshare(CloneFlags::CLONE_NEWNET)
        .context("a network namespace for the test needs CAP_SYS_ADMIN; run nr-link as root")?;
    let mut from = Tun::open("selftest0", Place::Here, MTU_BYTES)?;
    let mut to = Tun::open("selftest1", Place::Here, MTU_BYTES)?;
    from.set_address([10, 0, 0, 1])?;
    to.set_address([10, 0, 1, 1])?;
    fs::write("/proc/sys/net/ipv4/ip_forward", "1").context("switching forwarding on")?;
    let pool = Pool::default();
    let (mut scratch, packet) = (pool.scratch(), super_packet());
    let (started, cpu_ns) = (Instant::now(), cpu_time()?);
    let mut crossed_bytes = 0;
    while started.elapsed() < CROSSING {
        from.write(&packet, &[])?;
        while let Some(buffer) = to.read(&mut scratch, &pool)? {
            crossed_bytes += buffer.len() as u64;
        }
    }
    Ok(crossed_bytes as f64 * 8.0 / (cpu_time()? - cpu_ns) as f64)
}

/// From a host behind the first device to one behind the second.
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
    let checksum = crate::merge::ipv4_checksum(&packet[crate::vnet::VNET_HEADER_BYTES..]);
    packet[20..22].copy_from_slice(&checksum.to_be_bytes());
    packet.extend([0x14, 0x51, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 1]); // ports, sequence, acknowledgement
    packet.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]); // 20 bytes, ACK, window
    packet.resize(packet.len() + payload_bytes, 0);
    packet
}
