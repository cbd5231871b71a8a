// SPDX-License-Identifier: Apache-2.0
//! The link with its files: what each call of the kernel does.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use nr_link_model::config::PerDirection;
use nr_link_model::samples::CSV_HEADER;
use nr_link_model::{Ecn, Link, Packet, Port, ResolvedConfig, Source, UeId};
use nr_link_virtual_plan::Run;

use crate::captures::Captures;
use crate::fail;
use crate::interface::{Decision, Lost};
use crate::pcap::cannot_write;
use crate::reports::Reports;
use crate::samples::SocketSamples;
use crate::summary::{Counts, summary};
use crate::trace::Trace;

/// Enough for the IPv4 or IPv6 header.
const HEADER_BYTES: u32 = 40;
/// On a link without slots each packet would be an interrupt of its own; interfaces moderate them by as
/// much (docs/virtual-time.md says what it costs in accuracy).
const MODERATION_NS: u64 = 50_000;
const BUFFER_BYTES: usize = 1 << 20;

/// What the kernel's driver has to know.
#[derive(Debug)]
pub struct Settings {
    pub devices: u32,
    pub mtu_bytes: u32,
    pub kept_bytes: u32,
    pub sampled_devices: Vec<u32>,
    pub ports: Vec<u16>,
    pub socket_interval_ns: u64,
    pub moderation_ns: u64,
    pub clock_step_ns: u64,
    pub guest_plan: String,
}

/// A packet that leaves the link.
#[derive(Debug)]
pub struct Arrival {
    pub handle: u64,
    pub device: u32,
    pub congestion_experienced: bool,
}

/// A packet of the kernel's. Dropped with the model's packet, it goes back as lost.
#[derive(Debug)]
struct Handle {
    number: u64,
    lost: Lost,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the kernel's function takes any handle that it gave, once.
        unsafe { (self.lost)(self.number) }
    }
}

/// Everything that the kernel's driver calls.
#[derive(Debug)]
pub struct VirtualLink {
    pub settings: Settings,
    config: ResolvedConfig,
    link: Link<Handle>,
    lost: Lost,
    ue_of: BTreeMap<IpAddr, UeId>,
    floor_ms: PerDirection<f64>,
    counts: Counts,
    start_utc_ns: i64,
    reports: Reports,
    mac: BufWriter<File>,
    captures: Captures,
    sockets: SocketSamples,
    trace: Option<Trace>,
}

impl VirtualLink {
    /// Opens the link and all files of the run that `plan` describes.
    pub fn open(plan: &Path, lost: Lost) -> Result<Self, String> {
        let guest_plan = std::fs::read_to_string(plan)
            .map_err(|error| format!("{}: cannot be read: {error}.", plan.display()))?;
        let run: Run = serde_json::from_str(&guest_plan).map_err(|error| {
            format!("the plan is of another version of nr-link ({error}). Run make build.")
        })?;
        let mut config = ResolvedConfig::load(&run.link).map_err(|error| error.to_string())?;
        if let Some(folder) = &run.samples {
            config.output.mac = folder.join("mac.csv");
            config.output.summary = folder.join("link-summary.json");
        }
        let source = Source::load(&config).map_err(|error| error.to_string())?;
        let moderation_ns = match source {
            Source::Radio(_) => 0,
            Source::Capacity(_) => MODERATION_NS,
        };
        let link = Link::new(&config, source).map_err(|problem| problem.to_string())?;
        let captures = Captures::create(
            run.hosts.iter().map(|host| host.capture.as_deref()),
            run.captured_bytes,
        )?;
        let sampled = || run.hosts.iter().filter(|host| host.sockets.is_some());
        let sampled_devices = (0..).zip(&run.hosts);
        let sampled_devices = sampled_devices.filter(|(_, host)| host.sockets.is_some());
        let settings = Settings {
            devices: run.hosts.len() as u32,
            mtu_bytes: config.mtu_bytes,
            kept_bytes: match captures.any() {
                true => run.captured_bytes.max(HEADER_BYTES),
                false => HEADER_BYTES,
            },
            sampled_devices: sampled_devices.map(|(device, _)| device).collect(),
            ports: run
                .sockets
                .as_ref()
                .map_or(Vec::new(), |sockets| sockets.ports.clone()),
            socket_interval_ns: run
                .sockets
                .as_ref()
                .map_or(0, |sockets| sockets.interval_ns),
            moderation_ns,
            clock_step_ns: run.clock_step_ns,
            guest_plan,
        };
        Ok(Self {
            settings,
            floor_ms: link.mac_floor_ms(&config),
            mac: create_mac(&config.output.mac)?,
            ue_of: (0..)
                .zip(&run.hosts[1..])
                .map(|(ue, host)| (host.address, UeId(ue)))
                .collect(),
            sockets: SocketSamples::create(sampled().filter_map(|host| host.sockets.as_deref()))?,
            trace: run.cc_trace.as_deref().map(Trace::create).transpose()?,
            reports: Reports::open()?,
            counts: Counts::default(),
            start_utc_ns: 0,
            captures,
            link,
            lost,
            config,
        })
    }

    /// The link's time 0 is `utc_ns`.
    pub fn start(&mut self, utc_ns: i64) {
        self.start_utc_ns = utc_ns;
    }

    /// A packet leaves a host by `device`. False: it is for none of the UEs.
    pub fn enqueue(
        &mut self,
        device: usize,
        handle: u64,
        head: &[u8],
        length: u32,
        now: u64,
    ) -> bool {
        self.captures
            .record(device, head, length, self.start_utc_ns as u64 + now);
        let from = match device {
            0 => match destination(head).and_then(|address| self.ue_of.get(&address)) {
                Some(&ue) => Port::Core { ue },
                None => {
                    self.counts.unaddressed += 1;
                    return false;
                }
            },
            number => Port::Ue(UeId(number - 1)),
        };
        let packet = Packet {
            bytes: length,
            ecn: Ecn::from_bits(traffic_class(head)),
            payload: Handle {
                number: handle,
                lost: self.lost,
            },
        };
        self.link.enqueue(from, packet, now);
        true
    }

    /// Runs the link to `now`; gives when to call again.
    pub fn advance(&mut self, now: u64) -> u64 {
        self.link.advance(now);
        self.write_samples();
        self.reports.clock(now);
        self.next_event()
    }

    /// When to call [`Self::advance`] if no packet comes before.
    pub fn next_event(&self) -> u64 {
        self.link.next_event().at
    }

    /// The next packet that is due.
    pub fn dequeue(&mut self) -> Option<Arrival> {
        let delivery = self.link.dequeue()?;
        let handle = delivery.packet.payload.number;
        std::mem::forget(delivery.packet.payload); // it is not lost
        self.counts.delivered += 1;
        Some(Arrival {
            handle,
            device: match delivery.to {
                Port::Core { .. } => 0,
                Port::Ue(UeId(ue)) => 1 + ue as u32,
            },
            congestion_experienced: delivery.ce,
        })
    }

    /// A packet enters a host by `device`.
    pub fn delivered(&mut self, device: usize, head: &[u8], length: u32, now: u64) {
        self.captures
            .record(device, head, length, self.start_utc_ns as u64 + now);
    }

    /// The TCP sockets of a sampled host.
    pub fn sockets(&mut self, host: usize, messages: &[u8], now: u64) {
        self.sockets
            .record(host, messages, self.start_utc_ns as u64 + now);
    }

    /// A decision of Reminis.
    pub fn decided(&mut self, decision: &Decision) {
        if let Some(trace) = &mut self.trace {
            trace.record(decision, self.start_utc_ns as u64 + decision.now);
        }
    }

    /// A line of the guest's for the launcher.
    pub fn report(&mut self, text: &[u8]) {
        self.reports.pass_on(text);
    }

    /// Completes the files.
    pub fn close(&mut self, now: u64) {
        self.link.advance(now);
        self.write_samples();
        if let Err(error) = self.mac.flush() {
            fail(cannot_write(&self.config.output.mac, &error));
        }
        self.captures.flush();
        self.sockets.flush();
        if let Some(trace) = &mut self.trace {
            trace.flush();
        }
        let summary = summary(
            &mut self.link,
            &self.config,
            self.floor_ms,
            &self.counts,
            self.start_utc_ns,
            now,
        );
        let path = &self.config.output.summary;
        if let Err(error) = std::fs::write(path, format!("{summary:#}\n")) {
            fail(cannot_write(path, &error));
        }
    }

    fn write_samples(&mut self) {
        for sample in self.link.samples() {
            if let Err(error) = sample.write_csv(self.start_utc_ns, &mut self.mac) {
                fail(cannot_write(&self.config.output.mac, &error));
            }
        }
    }
}

fn create_mac(path: &Path) -> Result<BufWriter<File>, String> {
    let create = || {
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        writeln!(file, "{CSV_HEADER}")?;
        Ok(file)
    };
    create().map_err(|error| cannot_write(path, &error))
}

/// The destination of an IP packet.
fn destination(head: &[u8]) -> Option<IpAddr> {
    match head.first()? >> 4 {
        4 => {
            let octets: [u8; 4] = head.get(16..20)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        }
        6 => {
            let octets: [u8; 16] = head.get(24..40)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

/// The octet of an IP header whose low bits are the ECN field: TOS or traffic class.
fn traffic_class(head: &[u8]) -> u8 {
    match head {
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        [_, tos, ..] => *tos,
        _ => 0,
    }
}
