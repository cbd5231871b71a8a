// SPDX-License-Identifier: Apache-2.0
//! Round-trip times of single packets after idle times, as RRC-Probe measures them: the server sends a packet, the UE
//! answers at once, and the next packet follows after a longer pause. Prints `interval,rtt_ms`.
//!
//! `cargo run --release -p nr-link-model --example idle_rtt LINK.YAML LONGEST_S`

use std::path::Path;

use nr_link_model::{Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source, UeId};

/// The step between idle times, and how often each is measured.
const STEP: Nanos = 100_000_000;
const REPEATS: u64 = 5;
const PROBE_BYTES: u32 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [_, config, longest_s] = <[String; 3]>::try_from(std::env::args().collect::<Vec<_>>())
        .map_err(|_| "usage: idle_rtt LINK.YAML LONGEST_S")?;
    let config = ResolvedConfig::load(Path::new(&config))?;
    let mut link = Link::new(&config, Source::load(&config)?)?;
    let steps = longest_s.parse::<u64>()? * 1_000_000_000 / STEP;
    let mut now = 0;
    println!("interval,rtt_ms");
    for _ in 0..REPEATS {
        for interval in (0..steps).map(|step| step * STEP) {
            let sent = now + interval;
            let arrived = crossed(&mut link, Port::Core { ue: UeId(0) }, sent);
            now = crossed(&mut link, Port::Ue(UeId(0)), arrived);
            println!("{},{}", interval as f64 / 1e9, (now - sent) as f64 / 1e6);
        }
    }
    Ok(())
}

/// Sends a packet at `sent` and returns when it is delivered.
fn crossed(link: &mut Link<()>, from: Port, sent: Nanos) -> Nanos {
    let probe = Packet::new(PROBE_BYTES, Ecn::NotEct, ());
    link.enqueue(from, probe, sent);
    loop {
        link.advance(link.next_event().at);
        link.samples();
        if let Some(delivery) = link.dequeue() {
            return delivery.due;
        }
    }
}
