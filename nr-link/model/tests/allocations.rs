// SPDX-License-Identifier: Apache-2.0
//! Once its queues have grown to the traffic, a link allocates no memory in its slots.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use common::{MS, SECOND, config, link, packet, scenario};
use nr_link_model::{Link, Nanos, Port, UeId};

/// The system's allocator with a counter of allocations.
struct Counted;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Saturates all UEs in both directions for a time.
fn saturate_all(link: &mut Link<()>, from: Nanos, to: Nanos) {
    for now in (from..to).step_by(MS as usize) {
        for number in 0..24 {
            let ue = number % link.ues();
            link.enqueue(Port::Core { ue: UeId(ue) }, packet(1500, ()), now);
            link.enqueue(Port::Ue(UeId(ue)), packet(1500, ()), now);
        }
        link.advance(now);
        while link.dequeue().is_some() {}
        link.samples();
    }
}

#[test]
fn slots_allocate_no_memory() {
    let config = config(&[
        (
            "prb: 106",
            "prb: 24\n  secondary: [{}]\n  scheduler: {proportional_fair: {}}",
        ),
        ("{name: ue1}", "{name: ue1}, {name: ue2}, {name: ue3}"),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 200, aqm: {codel: {}}}",
        ),
        ("ul: {packets: 3200}", "ul: {packets: 200}"),
    ]);
    let fading = scenario(
        "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, noise: {sinr_db: 14}, mobility: {speed_mps: 3}, \
         fading: {taps: [{delay_ns: 0, power_db: 0}, {delay_ns: 300, power_db: -3}]}}",
    );
    let mut link: Link<()> = link(&config, &fading);
    saturate_all(&mut link, 0, 12 * SECOND);
    let before = COUNT.load(Ordering::Relaxed);
    saturate_all(&mut link, 12 * SECOND, 14 * SECOND);
    assert_eq!(COUNT.load(Ordering::Relaxed) - before, 0);
}
