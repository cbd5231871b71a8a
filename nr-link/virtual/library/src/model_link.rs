// SPDX-License-Identifier: Apache-2.0
//! nr-link's model as the link, with its samples.

use std::io::Write;

use nr_link_model::config::PerDirection;
use nr_link_model::mac_pcap;
use nr_link_model::{Delays, Link, Packet, Part, Port, ResolvedConfig, ResolvedLink, Source};
use serde_json::Value;

use crate::carrier::{Arrival, Carrier, Entering, device_of};
use crate::explained::Explanation;
use crate::fail;
use crate::handle::Handle;
use crate::output_file::OutputFile;
use crate::summary::{Counts, summary};

/// On a link without slots each packet would be an interrupt of its own; interfaces moderate them by as
/// much (docs/virtual-time.md says what it costs in accuracy).
const MODERATION_NS: u64 = 50_000;

/// The model and the file of its MAC samples.
#[derive(Debug)]
pub struct ModelLink {
    config: ResolvedConfig,
    link: Link<Handle>,
    floor_ms: PerDirection<f64>,
    start_utc_ns: i64,
    mac: OutputFile,
    pdus: Option<OutputFile>,
    /// The events of the UEs' connections, from the first on.
    events: Option<OutputFile>,
}

impl ModelLink {
    /// The link, and how long its packets are moderated in ns.
    pub fn open(mut link: ResolvedLink) -> Result<(Self, u64), String> {
        let source = link.source().map_err(|problem| problem.to_string())?;
        let config = link.config;
        let moderation_ns = match source {
            Source::Radio(_) | Source::DualConnectivity { .. } => 0,
            Source::Capacity(_) => MODERATION_NS,
        };
        let mut link = Link::new(&config, source).map_err(|problem| problem.to_string())?;
        if config.output.delays.is_some() {
            link.explain();
        }
        let mut mac = OutputFile::create(&config.output.mac)?;
        mac.append(|file| writeln!(file, "{}", link.csv_header()));
        let mut pdus = config
            .output
            .mac_pcap
            .as_deref()
            .map(OutputFile::create)
            .transpose()?;
        if let Some(pdus) = &mut pdus {
            pdus.append(|file| file.write_all(&mac_pcap::header()));
            link.record_mac_pdus();
        }
        let opened = Self {
            floor_ms: link.mac_floor_ms(&config),
            mac,
            pdus,
            events: None,
            start_utc_ns: 0,
            link,
            config,
        };
        Ok((opened, moderation_ns))
    }

    fn write_samples(&mut self) {
        for event in self.link.radio_events() {
            let path = self.config.output.radio_events();
            let file = self.events.get_or_insert_with(|| {
                OutputFile::create(&path).unwrap_or_else(|error| fail(error))
            });
            let line = serde_json::to_string(&event.at_utc(self.start_utc_ns));
            let line = line.unwrap_or_else(|error| fail(error));
            file.append(|file| writeln!(file, "{line}"));
        }
        for sample in self.link.samples() {
            self.mac
                .append(|file| sample.write_csv(self.start_utc_ns, file));
        }
        if let Some(pdus) = &mut self.pdus {
            for pdu in self.link.mac_pdus() {
                pdus.append(|file| pdu.write_pcap(self.start_utc_ns, file));
            }
        }
    }
}

impl Carrier for ModelLink {
    fn start(&mut self, utc_ns: i64) {
        self.start_utc_ns = utc_ns;
    }

    fn traffic_started(&mut self, now: u64) {
        self.link.count_changes_from(now);
    }

    fn parts(&self) -> &'static [Part] {
        self.link.parts()
    }

    fn enqueue(&mut self, from: Port, entering: Entering, now: u64) {
        let Entering {
            handle,
            bytes,
            ecn,
            sent,
        } = entering;
        let mut packet = Packet::new(bytes, ecn, handle);
        if self.config.output.delays.is_some() {
            packet.delays = Some(Box::new(Delays::of_captured(sent)));
        }
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
        let explanation = delivery.packet.delays.map(|delays| Explanation {
            delays,
            left: delivery.due,
            ue: delivery.to.ue(),
            direction: delivery.to.direction(),
        });
        Some(Arrival {
            handle: delivery.packet.payload.delivered(),
            device: device_of(delivery.to),
            congestion_experienced: delivery.ce,
            explanation,
        })
    }

    fn close(&mut self, counts: &Counts, now: u64) -> Value {
        self.link.advance(now);
        self.write_samples();
        self.mac.flush();
        if let Some(pdus) = &mut self.pdus {
            pdus.flush();
        }
        self.events.iter_mut().for_each(OutputFile::flush);
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
