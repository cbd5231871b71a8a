// SPDX-License-Identifier: Apache-2.0
//! The link with its files: what each call of the kernel does.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nr_link_model::config::PerDirection;
use nr_link_model::{Ecn, Port, ResolvedLink, UeId};
use nr_link_virtual_plan::{Plan, RADIO, Report, Run};

use crate::captures::Captures;
use crate::carrier::{Arrival, Carrier, Entering};
use crate::explained::Explained;
use crate::fail;
use crate::handle::{Handle, Lost};
use crate::model_link::ModelLink;
use crate::output_file::OutputFile;
use crate::radio_link::RadioLink;
use crate::reports::Reports;
use crate::samples::SocketSamples;
use crate::summary::Counts;
use crate::trace::{Declared, Trace};

/// Enough for the longest IPv4 header, or IPv6's, and for what identifies a packet in that of TCP or UDP.
const HEADER_BYTES: u32 = 72;
/// The launcher counts a run's seconds by the link's time: it moves at least this often.
const CLOCK_NS: u64 = 1_000_000_000;
/// The settings for the kernel's driver.
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

/// Everything that the kernel's driver calls.
#[derive(Debug)]
pub struct VirtualLink {
    pub settings: Settings,
    carrier: Box<dyn Carrier>,
    /// The link's time.
    now: u64,
    summary: PathBuf,
    lost: Lost,
    ue_of: BTreeMap<IpAddr, UeId>,
    counts: Counts,
    start_utc_ns: i64,
    link_start: Option<PathBuf>,
    reports: Reports,
    captures: Captures,
    explained: Option<Explained>,
    sockets: SocketSamples,
    traces: BTreeMap<u32, Trace>,
}

impl VirtualLink {
    /// Opens the link and all files of the run in the file `plan`.
    ///
    /// `declared`: the traces of the kernel's congestion controls, by their number.
    pub fn open(
        plan: &Path,
        lost: Lost,
        declared: BTreeMap<u32, Declared>,
    ) -> Result<Self, String> {
        let bytes = std::fs::read(plan)
            .map_err(|error| format!("{}: cannot be read: {error}.", plan.display()))?;
        let read: Result<Plan<ResolvedLink>, _> = ciborium::from_reader(bytes.as_slice());
        let Plan { mut link, run } = read.map_err(|error| {
            format!("the plan is of another version of nr-link ({error}). Run make build.")
        })?;
        let guest_plan = serde_json::to_string(&run).map_err(|error| error.to_string())?;
        let config = &mut link.config;
        if let Some(folder) = &run.samples {
            config.output.mac = folder.join("mac.csv");
            config.output.summary = folder.join("link-summary.json");
            if let Some(delays) = &mut config.output.delays {
                *delays = folder.join("delays.npy");
            }
            if let Some(pcap) = &mut config.output.mac_pcap {
                *pcap = folder.join("mac.pcap");
            }
        }
        let captures = Captures::create(
            run.hosts.iter().map(|host| host.capture.as_deref()),
            run.captured_bytes,
        )?;
        let sampled = || run.hosts.iter().filter(|host| host.sockets.is_some());
        let sampled_devices = (0..).zip(&run.hosts);
        let sampled_devices = sampled_devices.filter(|(_, host)| host.sockets.is_some());
        let (mtu_bytes, summary) = (config.mtu_bytes, config.output.summary.clone());
        let delays = config.output.delays.clone();
        let mut ue_of = BTreeMap::new();
        for (ue, one) in (0..).zip(&config.ues) {
            ue_of.extend(one.addresses.iter().map(|&address| (address, UeId(ue))));
        }
        ue_of.extend(
            (0..)
                .zip(&run.hosts[1..])
                .map(|(ue, host)| (host.address, UeId(ue))),
        );
        let (carrier, moderation_ns) = carrier(&run, link)?;
        let explained = delays.map(|path| Explained::create(&path, carrier.parts()));
        let explained = explained.transpose()?;
        let settings = Settings {
            devices: run.hosts.len() as u32,
            mtu_bytes,
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
            ue_of,
            now: 0,
            sockets: SocketSamples::create(sampled().filter_map(|host| host.sockets.as_deref()))?,
            traces: traces(&run.cc_traces, declared)?,
            reports: Reports::open()?,
            counts: Counts::default(),
            start_utc_ns: 0,
            link_start: run.link_start,
            captures,
            explained,
            carrier,
            summary,
            lost,
        })
    }

    /// The link's time 0 is `utc_ns`.
    pub fn start(&mut self, utc_ns: i64) {
        self.start_utc_ns = utc_ns;
        self.carrier.start(utc_ns);
        if let Some(path) = &self.link_start {
            let mut file = OutputFile::create(path).unwrap_or_else(|error| fail(error));
            file.append(|file| writeln!(file, "{utc_ns}"));
            file.flush();
        }
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
        let sent = self
            .captures
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
        let packet = Entering {
            handle: Handle::new(handle, self.lost),
            bytes: length,
            ecn: Ecn::from_bits(traffic_class(head)),
            sent,
        };
        self.carrier.enqueue(from, packet, now);
        true
    }

    /// Runs the link to `now`; gives when to call again.
    pub fn advance(&mut self, now: u64) -> u64 {
        self.carrier.advance(now);
        self.now = now;
        self.reports.clock(now);
        self.next_event()
    }

    /// When to call [`Self::advance`] if no packet comes before.
    pub fn next_event(&self) -> u64 {
        self.carrier.next_event().min(self.now + CLOCK_NS)
    }

    /// The next packet that is due.
    pub fn dequeue(&mut self) -> Option<Arrival> {
        let mut arrival = self.carrier.dequeue()?;
        if let (Some(explained), Some(explanation)) =
            (&mut self.explained, arrival.explanation.take())
        {
            explained.leaves(explanation);
        }
        self.counts.delivered += 1;
        Some(arrival)
    }

    /// A packet enters a host by `device`.
    pub fn delivered(&mut self, device: usize, head: &[u8], length: u32, now: u64) {
        let received = self
            .captures
            .record(device, head, length, self.start_utc_ns as u64 + now);
        if let Some(explained) = &mut self.explained {
            explained.received(received, head, length, self.start_utc_ns);
        }
    }

    /// The TCP sockets of a sampled host.
    pub fn sockets(&mut self, host: usize, messages: &[u8], now: u64) {
        self.sockets
            .record(host, messages, self.start_utc_ns as u64 + now);
    }

    /// A row of a trace; `values` gives as many as it is asked for.
    pub fn traced<'a>(&mut self, trace: u32, values: impl Fn(usize) -> &'a [i64], now: u64) {
        if let Some(trace) = self.traces.get_mut(&trace) {
            trace.record(self.start_utc_ns as u64 + now, values(trace.width()));
        }
    }

    /// A line of the guest's for the launcher.
    pub fn report(&mut self, text: &[u8]) {
        if let Ok(Report::TrafficStarted { utc_ns }) = serde_json::from_slice(text) {
            self.carrier
                .traffic_started((utc_ns - self.start_utc_ns) as u64);
        }
        self.reports.pass_on(text);
    }

    /// Completes the files.
    pub fn close(&mut self, now: u64) {
        self.captures.flush();
        if let Some(explained) = &mut self.explained {
            explained.close();
        }
        self.sockets.flush();
        self.traces.values_mut().for_each(Trace::flush);
        let summary = self.carrier.close(&self.counts, now);
        let mut file = OutputFile::create(&self.summary).unwrap_or_else(|error| fail(error));
        file.append(|file| writeln!(file, "{summary:#}"));
        file.flush();
    }
}

/// Returns the traces that have a file, by their number.
fn traces(
    files: &BTreeMap<String, PathBuf>,
    declared: BTreeMap<u32, Declared>,
) -> Result<BTreeMap<u32, Trace>, String> {
    if let Some(name) = files
        .keys()
        .find(|name| !declared.values().any(|one| one.name == **name))
    {
        return Err(format!(
            "cc_traces: the kernel has no congestion control {name} that writes a trace. Leave it out."
        ));
    }
    let files = declared
        .into_iter()
        .filter_map(|(number, one)| Some((number, files.get(&one.name)?, one.columns)));
    files
        .map(|(number, path, columns)| Ok((number, Trace::create(path, columns)?)))
        .collect()
}

/// Returns the carrier of the packets, and how long they are moderated in ns.
fn carrier(run: &Run, link: ResolvedLink) -> Result<(Box<dyn Carrier>, u64), String> {
    if run.radio.is_some() {
        let explains = link.config.output.delays.is_some();
        let delay_ns = PerDirection {
            dl: link.config.path.dl.delay,
            ul: link.config.path.ul.delay,
        };
        // SAFETY: the launcher passed it for this one use.
        let radio = unsafe { UnixStream::from_raw_fd(RADIO) };
        let ues = run.hosts.len() - 1;
        let radio = RadioLink::over(radio, ues, delay_ns, explains)?;
        return Ok((Box::new(radio), 0));
    }
    let (model, moderation_ns) = ModelLink::open(link)?;
    Ok((Box::new(model), moderation_ns))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolved_link_is_the_same_in_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let radio = "radio: {ss_pbch_block_power_dbm: -3.3, noise: {figure_db: 7}, \
                     level: {rsrp_dbm: {file: s.csv, column: b}}, fading: {tap_series: {file: t.csv}}}";
        let capacity = "capacity: {dl: {drawn: {step_s: 0.1, quantiles_mbps: [[0, 0.1], [1, 99.7]]}}, \
                        ul: {steps_mbps: [[0, 3.3], [0.7, 12.1]]}}";
        write("s.csv", "t_s,b\n0,-80.1\n0.3,-81.7\n");
        write("t.csv", "t_s,delay_ns_1,re_1,im_1\n0,0,0.7,0.1\n");
        for content in [radio, capacity] {
            let head = "schema: rf-scenario/1\nname: x\nsummary: x\nsources: [x]\nlicense: CC0-1.0\nduration_s: 1.1\n";
            write("scenario.yaml", &format!("{head}{content}\n"));
            write(
                "link.yaml",
                &include_str!("../../../model/tests/common/link.yaml")
                    .replacen("prb: 106", "prb: 106\n  gnb_profile: oai-2026.w11", 1)
                    .replacen("delay_ms: 10.0", "delay_ms: 10.7", 1),
            );
            let mut link = ResolvedLink::load(&folder.path().join("link.yaml")).unwrap();
            let mut written = Vec::new();
            ciborium::into_writer(&link, &mut written).unwrap();
            std::fs::remove_file(folder.path().join("link.yaml")).unwrap();
            std::fs::remove_file(folder.path().join("scenario.yaml")).unwrap();
            let mut other: ResolvedLink = ciborium::from_reader(written.as_slice()).unwrap();
            let sources =
                [&mut link, &mut other].map(|link| format!("{:?}", link.source().unwrap()));
            assert_eq!(sources[0], sources[1]);
            assert_eq!(link, other);
        }
    }
}
