// SPDX-License-Identifier: Apache-2.0
//! Keeps one direction of a link full, or sends single packets to and fro, and writes what the MAC did as CSV.
//!
//! ```text
//! saturate LINK.yaml dl|ul MBPS SECONDS     one row for each interval of `samples`
//! saturate LINK.yaml ping MS SECONDS        one row for each round trip
//! ```
//!
//! Full: packets of 1500 bytes at a constant rate. Columns: `t_s`, `first`, `second`, `third`, `fourth` (transmissions
//! by HARQ round), `errors`, `scheduled_bytes`, `bytes` (counters since the start), and `mcs`, the mean of the interval.
//! Ping: a packet of 84 bytes from the core at this interval, whose reply the UE sends at once. Column: `rtt_ms`.

use std::error::Error;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use nr_link_model::{
    Delivery, Direction, Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source, UeId,
};

const PING_BYTES: u32 = 84;
/// The timeout for a reply.
const PATIENCE: Nanos = 100_000_000;
const PACKET_BYTES: u32 = 1500;
const UE: UeId = UeId(0);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, what, amount, seconds] = arguments.as_slice() else {
        return Err("saturate LINK.yaml dl|ul|ping MBPS|MS SECONDS".into());
    };
    let config = ResolvedConfig::load(Path::new(file))?;
    let link = Link::new(&config, Source::load(&config)?)?;
    let end = (seconds.parse::<f64>()? * 1e9) as Nanos;
    let out = BufWriter::new(stdout().lock());
    match what.as_str() {
        "dl" => full(link, Direction::Downlink, amount.parse()?, end, out),
        "ul" => full(link, Direction::Uplink, amount.parse()?, end, out),
        "ping" => ping(link, amount.parse()?, end, out),
        other => Err(format!("{other:?} is not dl, ul or ping").into()),
    }
}

fn packet(bytes: u32) -> Packet<Nanos> {
    Packet::new(bytes, Ecn::NotEct, 0)
}

fn full(
    mut link: Link<Nanos>,
    direction: Direction,
    mbps: f64,
    end: Nanos,
    mut out: impl Write,
) -> Result<(), Box<dyn Error>> {
    let from = match direction {
        Direction::Downlink => Port::Core { ue: UE },
        Direction::Uplink => Port::Ue(UE),
    };
    let gap = (f64::from(PACKET_BYTES) * 8e3 / mbps) as Nanos;
    writeln!(
        out,
        "t_s,first,second,third,fourth,errors,scheduled_bytes,bytes,mcs"
    )?;
    for now in (0..end).step_by(gap as usize) {
        link.advance(now);
        link.enqueue(from, packet(PACKET_BYTES), now);
        while link.dequeue().is_some() {}
        for sample in link.samples() {
            let seen = sample.directions.of(direction);
            let totals = seen.totals;
            let [first, second, third, fourth] = totals.rounds;
            let t_s = (sample.start + sample.duration) as f64 / 1e9;
            let mcs = seen.mcs.map_or(String::new(), |mcs| format!("{mcs:.2}"));
            writeln!(
                out,
                "{t_s:.3},{first},{second},{third},{fourth},{},{},{},{mcs}",
                totals.errors, totals.scheduled_bytes, totals.bytes
            )?;
        }
    }
    Ok(())
}

fn ping(
    mut link: Link<Nanos>,
    interval_ms: f64,
    end: Nanos,
    mut out: impl Write,
) -> Result<(), Box<dyn Error>> {
    writeln!(out, "rtt_ms")?;
    let interval = (interval_ms * 1e6) as Nanos;
    for sent in (interval..end).step_by(interval as usize) {
        link.advance(sent);
        link.enqueue(Port::Core { ue: UE }, packet(PING_BYTES), sent);
        let mut now = sent;
        while now < sent + PATIENCE.min(interval) {
            now += 50_000;
            link.advance(now);
            while let Some(Delivery { to, due, .. }) = link.dequeue() {
                match to {
                    Port::Ue(_) => link.enqueue(Port::Ue(UE), packet(PING_BYTES), due.max(now)),
                    Port::Core { .. } => writeln!(out, "{:.3}", (due - sent) as f64 / 1e6)?,
                }
            }
        }
        link.samples();
    }
    Ok(())
}
