// SPDX-License-Identifier: Apache-2.0
//! The plan as a user writes it, or `ccu`: YAML or JSON of schema nr-link-virtual/1.
//! `docs/virtual-time.md` describes each key.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use nr_link_model::{Problem, Violation, within, yaml};
use serde::Deserialize;

/// The kernel needs so much at least.
pub const LEAST_MEMORY_MB: u64 = 128;
const SCHEMA: &str = "nr-link-virtual/1";
const MOST_CLOCK_STEP_NS: u64 = 1_000_000;
/// A capture counts seconds since 1970 in 32 bits, until 2106.
const LATEST_START_NS: u64 = 4_200_000_000_000_000_000;
const MOST_MEMORY_MB: u64 = 65_536;
/// The header with number and time.
const LEAST_DATAGRAM_BYTES: u32 = 12;
const MOST_DATAGRAM_BYTES: u32 = 65_507;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    schema: String,
    /// The link's configuration.
    pub link: PathBuf,
    /// The Unix socket of a radio that takes the model's place.
    pub radio: Option<PathBuf>,
    /// Seed of the kernel's randomness (ports, initial sequence numbers, draws of congestion controls); default: the
    /// link's.
    pub seed: Option<u64>,
    /// Virtual UTC at the kernel's start, nanoseconds since 1970.
    #[serde(default = "default_start")]
    pub start_utc_ns: u64,
    /// The kernel's memory; it is taken when it is used.
    #[serde(default = "default_memory")]
    pub memory_mb: u64,
    /// The time in s after which a flow that still runs has failed; default: 60 s after the last flow's end.
    pub limit_s: Option<f64>,
    /// CPU seconds that one virtual second may take.
    #[serde(default = "default_cpu_limit")]
    pub cpu_limit_s: f64,
    /// The step of the clock when a process reads it, ns.
    #[serde(default = "default_clock_step")]
    pub clock_step_ns: u64,
    /// The server's address.
    #[serde(default = "default_server")]
    pub server_address: IpAddr,
    /// Kernel settings of all hosts, over those of the emulated testbed.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Kernel modules to load, built with setup/virtual-module.
    #[serde(default)]
    pub modules: Vec<PathBuf>,
    /// Parameters of kernel modules.
    #[serde(default)]
    pub module_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// The traffic.
    #[serde(default)]
    pub flows: Vec<FlowEntry>,
    /// Programs of the user.
    #[serde(default)]
    pub programs: Vec<ProgramEntry>,
    /// The file for when the link begins, as soon as it does.
    pub link_start: Option<PathBuf>,
    /// The changes of the hosts while the traffic runs.
    #[serde(default)]
    pub changes: Vec<ChangeEntry>,
    /// Captures.
    pub capture: Option<CaptureEntry>,
    /// Socket samples.
    pub sockets: Option<SocketsEntry>,
    /// The files for the traces of congestion controls that the kernel has, by their names.
    #[serde(default)]
    pub cc_traces: BTreeMap<String, PathBuf>,
    /// The folder for flows.json and virtual.json.
    #[serde(default)]
    pub output: PathBuf,
}

fn default_start() -> u64 {
    1_000_000_000_000_000_000
}

fn default_memory() -> u64 {
    1500
}

fn default_cpu_limit() -> f64 {
    60.0
}

fn default_clock_step() -> u64 {
    256
}

fn default_server() -> IpAddr {
    Ipv4Addr::new(10, 45, 0, 1).into()
}

/// The direction of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The direction from the server to a UE.
    Dl,
    /// The direction from a UE to the server.
    Ul,
}

/// A flow's transport.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportName {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

/// One flow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowEntry {
    /// Its name; default: f0, f1 … in order.
    pub id: Option<String>,
    /// Its transport.
    #[serde(default)]
    pub transport: TransportName,
    /// The direction.
    pub direction: Direction,
    /// Number of its UE, from 1.
    #[serde(default = "first_ue")]
    pub ue: usize,
    /// TCP: its congestion control.
    pub cc: Option<String>,
    /// When it begins.
    #[serde(default)]
    pub start_s: f64,
    /// The duration.
    pub duration_s: f64,
    /// TCP: it ends after so many bytes, whatever the duration.
    pub volume_bytes: Option<u64>,
    /// TCP: largest segment.
    pub mss_bytes: Option<u32>,
    /// UDP: rate of the payload.
    pub rate_bps: Option<f64>,
    /// UDP: payload of a datagram.
    pub length_bytes: Option<u32>,
    /// The sender's port; default: 20001, 20002 … in order.
    pub sending_port: Option<u16>,
    /// The receiver's; default: 5201, 5202 … in order.
    pub listening_port: Option<u16>,
}

fn first_ue() -> usize {
    1
}

/// One program of the user.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramEntry {
    /// Its name; default: p0, p1 … in order.
    pub name: Option<String>,
    /// `server`, `ue`, `ue2` …
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it begins.
    #[serde(default)]
    pub start_s: f64,
    /// Runs until everything else has ended.
    #[serde(default)]
    pub service: bool,
    /// The congestion control whose policy it is.
    pub policy_of: Option<String>,
    /// The file for its standard output.
    pub output: Option<PathBuf>,
    /// Runs as the user of this process, not as the guest's root.
    #[serde(default)]
    pub unprivileged: bool,
}

/// One change on the hosts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeEntry {
    /// When.
    pub at_s: f64,
    /// Kernel modules to load first.
    #[serde(default)]
    pub modules: Vec<PathBuf>,
    /// Parameters of kernel modules.
    #[serde(default)]
    pub module_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// Parameters of policies.
    #[serde(default)]
    pub policy_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// The congestion control of all TCP flows.
    pub cc: Option<String>,
}

/// Captures by host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureEntry {
    /// Bytes of each packet.
    #[serde(default = "default_captured")]
    pub bytes: u32,
    /// A file for each host to capture on.
    pub files: BTreeMap<String, PathBuf>,
}

fn default_captured() -> u32 {
    128
}

/// Socket samples by host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketsEntry {
    /// Time between two.
    #[serde(default = "default_interval")]
    pub interval_ms: f64,
    /// Only sockets with one of these ports.
    #[serde(default)]
    pub ports: Vec<u16>,
    /// A file for each host to sample.
    pub files: BTreeMap<String, PathBuf>,
}

/// Times in nanoseconds have to fit into 64 bits, with sums of them.
const LONGEST_S: f64 = 1e9;
const LEAST_BPS: f64 = 1.0;
const MOST_BPS: f64 = 1e12;

fn default_interval() -> f64 {
    20.0
}

impl PlanFile {
    /// Reads a file and checks what needs no other.
    ///
    /// # Errors
    /// It cannot be read, or breaks a rule.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let text = nr_link_model::input_file::read_text(path).map_err(|error| {
            let rule = format!("cannot be read ({error})");
            Violation::new(rule, "Name a file of schema nr-link-virtual/1").in_file(path, None)
        })?;
        let file: Self = yaml::read(&text, path, "docs/virtual-time.md")?;
        let checked = file.check();
        checked.map_err(|problem| yaml::located(problem, &text, path))?;
        Ok(file)
    }

    fn check(&self) -> Result<(), Problem> {
        rule(
            self.schema == SCHEMA,
            "schema",
            || format!("is {}", self.schema),
            &format!("Write {SCHEMA}"),
        )?;
        let memory_mb = LEAST_MEMORY_MB..=MOST_MEMORY_MB;
        within(
            "memory_mb",
            self.memory_mb,
            memory_mb,
            "Leave it out for 1500",
        )?;
        rule(
            !self.flows.is_empty() || !self.programs.is_empty(),
            "flows",
            || "there is neither a flow nor a program".into(),
            "Add one",
        )?;
        within(
            "start_utc_ns",
            self.start_utc_ns,
            0..=LATEST_START_NS,
            "Leave it out for 2001",
        )?;
        positive("cpu_limit_s", self.cpu_limit_s)?;
        let clock_step_ns = 1..=MOST_CLOCK_STEP_NS;
        within(
            "clock_step_ns",
            self.clock_step_ns,
            clock_step_ns,
            "Leave it out for 256",
        )?;
        self.limit_s
            .map_or(Ok(()), |limit_s| positive("limit_s", limit_s))?;
        for (number, flow) in self.flows.iter().enumerate() {
            flow.check(&format!("flows[{number}]"))?;
        }
        for (number, program) in self.programs.iter().enumerate() {
            rule(
                !program.command.is_empty(),
                &format!("programs[{number}].command"),
                || "is empty".into(),
                "Write the program and its arguments",
            )?;
            not_negative(&format!("programs[{number}].start_s"), program.start_s)?;
        }
        for (number, change) in self.changes.iter().enumerate() {
            not_negative(&format!("changes[{number}].at_s"), change.at_s)?;
        }
        rule(
            self.changes.is_sorted_by_key(|change| change.at_s),
            "changes",
            || "are not in order of time".into(),
            "Write the earliest first",
        )?;
        if let Some(sockets) = &self.sockets {
            let interval_ms = 1.0..=60_000.0;
            within(
                "sockets.interval_ms",
                sockets.interval_ms,
                interval_ms,
                "Leave it out for 20",
            )?;
        }
        if let Some(capture) = &self.capture {
            within(
                "capture.bytes",
                capture.bytes,
                40..=65_535,
                "Leave it out for 128",
            )?;
        }
        Ok(())
    }
}

impl FlowEntry {
    fn check(&self, key: &str) -> Result<(), Problem> {
        let key = |name: &str| format!("{key}.{name}");
        not_negative(&key("start_s"), self.start_s)?;
        positive(&key("duration_s"), self.duration_s)?;
        let of_tcp = [
            ("cc", self.cc.is_some()),
            ("volume_bytes", self.volume_bytes.is_some()),
            ("mss_bytes", self.mss_bytes.is_some()),
        ];
        let of_udp = [
            ("rate_bps", self.rate_bps.is_some()),
            ("length_bytes", self.length_bytes.is_some()),
        ];
        let (needed, of_the_other) = match self.transport {
            TransportName::Tcp => (of_tcp[0], &of_udp[..]),
            TransportName::Udp => (of_udp[0], &of_tcp[..]),
        };
        rule(
            needed.1,
            &key(needed.0),
            || "is missing".into(),
            "Name a congestion control (cc), or of UDP the rate of the payload in bit/s (rate_bps)",
        )?;
        for (name, given) in of_the_other {
            rule(
                !given,
                &key(name),
                || "belongs to the other transport".into(),
                "Leave it out, or change transport (tcp or udp)",
            )?;
        }
        let rate_bps = self.rate_bps.unwrap_or(LEAST_BPS);
        within(
            &key("rate_bps"),
            rate_bps,
            LEAST_BPS..=MOST_BPS,
            "Write bit/s",
        )?;
        let length_bytes = self.length_bytes.unwrap_or(LEAST_DATAGRAM_BYTES);
        rule(
            (LEAST_DATAGRAM_BYTES..=MOST_DATAGRAM_BYTES).contains(&length_bytes),
            &key("length_bytes"),
            || {
                format!(
                    "{length_bytes} is not between {LEAST_DATAGRAM_BYTES}, the flow's own header, and \
                     {MOST_DATAGRAM_BYTES}"
                )
            },
            "Leave it out for the largest that fits into a packet",
        )
    }
}

/// The problem that a key breaks a rule, unless the rule is kept.
fn rule(kept: bool, key: &str, broken: impl FnOnce() -> String, fix: &str) -> Result<(), Problem> {
    if kept {
        return Ok(());
    }
    Err(Violation::new(broken(), fix).at_key(key))
}

fn positive(key: &str, value: f64) -> Result<(), Problem> {
    rule(
        value > 0.0 && value <= LONGEST_S,
        key,
        || format!("{value} is not above 0 and at most {LONGEST_S}"),
        "Write seconds",
    )
}

fn not_negative(key: &str, value: f64) -> Result<(), Problem> {
    within(key, value, 0.0..=LONGEST_S, "Write seconds").map(drop)
}
