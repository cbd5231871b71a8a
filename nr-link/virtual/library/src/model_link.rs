// SPDX-License-Identifier: Apache-2.0
//! nr-link's model as the link, with its samples.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use nr_link_model::config::PerDirection;
use nr_link_model::samples::csv_header;
use nr_link_model::{Ecn, Link, Packet, Port, ResolvedConfig, Source};
use serde_json::Value;

use crate::carrier::{Arrival, Carrier, device_of};
use crate::fail;
use crate::handle::Handle;
use crate::pcap::cannot_write;
use crate::summary::{Counts, summary};

/// On a link without slots each packet would be an interrupt of its own; interfaces moderate them by as
/// much (docs/virtual-time.md says what it costs in accuracy).
const MODERATION_NS: u64 = 50_000;
const BUFFER_BYTES: usize = 1 << 20;

/// The model and the file of its MAC samples.
#[derive(Debug)]
pub struct ModelLink {
    config: ResolvedConfig,
    link: Link<Handle>,
    floor_ms: PerDirection<f64>,
    start_utc_ns: i64,
    mac: BufWriter<File>,
}

impl ModelLink {
    /// The link of a configuration, and how long its packets are moderated in ns.
    pub fn open(config: ResolvedConfig) -> Result<(Self, u64), String> {
        let source = Source::load(&config).map_err(|error| error.to_string())?;
        let moderation_ns = match source {
            Source::Radio(_) => 0,
            Source::Capacity(_) => MODERATION_NS,
        };
        let link = Link::new(&config, source).map_err(|problem| problem.to_string())?;
        let opened = Self {
            floor_ms: link.mac_floor_ms(&config),
            mac: create_mac(&config.output.mac)?,
            start_utc_ns: 0,
            link,
            config,
        };
        Ok((opened, moderation_ns))
    }

    fn write_samples(&mut self) {
        for sample in self.link.samples() {
            if let Err(error) = sample.write_csv(self.start_utc_ns, &mut self.mac) {
                fail(cannot_write(&self.config.output.mac, &error));
            }
        }
    }
}

impl Carrier for ModelLink {
    fn start(&mut self, utc_ns: i64) {
        self.start_utc_ns = utc_ns;
    }

    fn enqueue(&mut self, from: Port, handle: Handle, bytes: u32, ecn: Ecn, now: u64) {
        let packet = Packet {
            bytes,
            ecn,
            payload: handle,
        };
        self.link.enqueue(from, packet, now);
    }

    fn advance(&mut self, now: u64) {
        self.link.advance(now);
        self.write_samples();
    }

    fn next_event(&self) -> u64 {
        self.link.next_event().at
    }

    fn dequeue(&mut self) -> Option<Arrival> {
        let delivery = self.link.dequeue()?;
        Some(Arrival {
            handle: delivery.packet.payload.delivered(),
            device: device_of(delivery.to),
            congestion_experienced: delivery.ce,
        })
    }

    fn close(&mut self, counts: &Counts, now: u64) -> Value {
        self.link.advance(now);
        self.write_samples();
        if let Err(error) = self.mac.flush() {
            fail(cannot_write(&self.config.output.mac, &error));
        }
        summary(
            &mut self.link,
            &self.config,
            self.floor_ms,
            counts,
            self.start_utc_ns,
            now,
        )
    }
}

fn create_mac(path: &Path) -> Result<BufWriter<File>, String> {
    let create = || {
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        writeln!(file, "{}", csv_header())?;
        Ok(file)
    };
    create().map_err(|error| cannot_write(path, &error))
}
