// SPDX-License-Identifier: Apache-2.0
//! Handovers and their failures on the route of one UE without traffic, with each seed from 1 to SEEDS. Prints
//! `seed,handovers,interruption_ms,too_late,too_early,wrong_cell,coverage,lost,ping_pong`: `interruption_ms` is the mean of the
//! handovers, `lost` counts failures after which no cell was found by the end.
//!
//! `cargo run --release -p nr-link-model --example handover_failures LINK.YAML SECONDS SEEDS`

use std::path::Path;

use nr_link_model::{EventKind, Link, ResolvedConfig, Source};

/// The classes of TS 38.300 clause 15.5.2, as the events name them.
const CLASSES: [&str; 4] = ["too_late", "too_early", "wrong_cell", "coverage"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = std::env::args().collect::<Vec<_>>();
    let [_, config, seconds, seeds] = <[String; 4]>::try_from(words)
        .map_err(|_| "usage: handover_failures LINK.YAML SECONDS SEEDS")?;
    let mut config = ResolvedConfig::load(Path::new(&config))?;
    let until_ns = (seconds.parse::<f64>()? * 1e9) as u64;
    println!(
        "seed,handovers,interruption_ms,{},lost,ping_pong",
        CLASSES.join(",")
    );
    for seed in 1..=seeds.parse::<u64>()? {
        config.seed = seed;
        println!("{seed},{}", counts(&config, until_ns)?);
    }
    Ok(())
}

/// Runs the link and returns the columns after the seed.
fn counts(config: &ResolvedConfig, until_ns: u64) -> Result<String, Box<dyn std::error::Error>> {
    let mut link: Link<()> = Link::new(config, Source::load(config)?)?;
    let (mut handovers, mut interrupted_ns, mut failures, mut ping_pongs) = (0, 0, 0, 0);
    let mut classes = [0; CLASSES.len()];
    while link.next_event().at < until_ns {
        link.advance(link.next_event().at);
        link.samples(); // Dropped: they would fill memory.
        for event in link.radio_events() {
            match event.kind {
                EventKind::HandoverComplete {
                    interruption_ns,
                    ping_pong,
                    ..
                } => {
                    handovers += 1;
                    interrupted_ns += interruption_ns;
                    ping_pongs += u64::from(ping_pong);
                }
                EventKind::RadioLinkFailure { .. } => failures += 1,
                EventKind::Reestablished { class, .. } => {
                    let index = CLASSES.iter().position(|one| *one == class);
                    classes[index.expect("a class of the standard")] += 1;
                }
                _ => {}
            }
        }
    }
    let mean_ms = interrupted_ns as f64 / f64::from(handovers.max(1)) / 1e6;
    let lost = failures - classes.iter().sum::<i32>();
    let classes = classes.map(|count| count.to_string()).join(",");
    Ok(format!(
        "{handovers},{mean_ms:.2},{classes},{lost},{ping_pongs}"
    ))
}
