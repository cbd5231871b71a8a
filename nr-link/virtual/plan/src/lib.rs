// SPDX-License-Identifier: Apache-2.0
//! A run in virtual time, checked and complete: the launcher writes it as JSON, the
//! library in the kernel's process and the guest's first program read it.
//!
//! `docs/virtual-time.md` describes the file that a user writes.

pub mod radio;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::RawFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// NR_LINK_ABI of `../driver/nr_link.h`: a kernel of another number cannot call the library.
pub const ABI: u32 = 3;

/// Environment variable of the kernel's process: the file with the [`Run`].
pub const PLAN_VARIABLE: &str = "NR_LINK_PLAN";
/// The same: descriptor of the file that takes the guest's [`Report`]s, one JSON value a line.
pub const REPORT_VARIABLE: &str = "NR_LINK_REPORT_FD";
/// The same: descriptor of a shared mapping of eight bytes, the link's time in nanoseconds.
pub const CLOCK_VARIABLE: &str = "NR_LINK_CLOCK_FD";
/// The same: the seed of the kernel's randomness.
pub const SEED_VARIABLE: &str = "NR_LINK_SEED";
/// The same: the library with the model.
pub const LIBRARY_VARIABLE: &str = "NR_LINK_LIBRARY";

/// The file from which the guest reads the [`Run`].
pub const GUEST_PLAN: &str = "/proc/nr-link/plan";
/// The file to which it writes the number of a device, which then appears in the writer's network namespace.
pub const GUEST_DEVICE: &str = "/proc/nr-link/device";
/// The file to which it writes its [`Report`]s.
pub const GUEST_REPORT: &str = "/proc/nr-link/report";
/// The file to which it writes the name of a congestion control, which a policy then decides for.
pub const GUEST_PLANES: &str = "/proc/nr-link/planes";
/// The start of the name of such a congestion control's folder in `/proc/nr-link`.
pub const GUEST_PLANE: &str = "plane-";

/// The same: descriptor of the connection to the radio that takes the model's place, if there is one. The kernel's process
/// may make no socket itself.
pub const RADIO: RawFd = 107;
/// The same: descriptors of the launcher's standard input, output and error, if a program has them.
pub const STREAMS: [RawFd; 3] = [104, 105, 106];
/// The folder where the guest has these streams.
pub const GUEST_STREAMS: [&str; 3] = [
    "/proc/nr-link/stdin",
    "/proc/nr-link/stdout",
    "/proc/nr-link/stderr",
];

/// A run and its link `L`, as the kernel's process gets them in CBOR, which keeps every bit of a number. The guest gets
/// the run as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan<L> {
    /// The link, with everything that its configuration and scenarios say.
    pub link: L,
    /// The run.
    pub run: Run,
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The Unix socket of a radio (`nr-link radio`) that takes the model's place.
    pub radio: Option<PathBuf>,
    /// The folder for MAC samples and summary; none: where the link's configuration says.
    pub samples: Option<PathBuf>,
    /// The file for when the link begins, UTC in nanoseconds since 1970, as soon as it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_start: Option<PathBuf>,
    /// The step of the clock when a process reads it, nanoseconds.
    pub clock_step_ns: u64,
    /// The hosts by number: the server, then the UEs. Each has the link's device of its number.
    pub hosts: Vec<Host>,
    /// Kernel settings of every host, e.g. `net.ipv4.tcp_ecn`.
    pub sysctls: BTreeMap<String, String>,
    /// Whether the hosts' devices join the segments that they receive (generic receive offload).
    pub gro: bool,
    /// Kernel modules to load, in this order.
    pub modules: Vec<PathBuf>,
    /// Parameters of kernel modules, by the module's name.
    pub module_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// The traffic.
    pub flows: Vec<Flow>,
    /// Programs of the user.
    pub programs: Vec<Program>,
    /// The changes of the hosts while the traffic runs, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// After this time, in seconds of traffic, what still runs has failed.
    pub limit_s: f64,
    /// Bytes of each packet in captures.
    pub captured_bytes: u32,
    /// Socket samples.
    pub sockets: Option<Sockets>,
    /// The files for the traces of congestion controls that the kernel has, by their names.
    pub cc_traces: BTreeMap<String, PathBuf>,
}

/// A change on the hosts. Parts that are empty leave things as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, in seconds of traffic.
    pub at_s: f64,
    /// Kernel modules to load first.
    pub modules: Vec<PathBuf>,
    /// Parameters of kernel modules, by the module's name.
    pub module_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// Parameters of policies, by their congestion control.
    pub policy_parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// The congestion control of all TCP flows from then on.
    pub cc: Option<String>,
}

/// A host of the guest: a network namespace with one device of the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// `server`, `ue`, `ue2`, `ue3` …
    pub name: String,
    /// The device's name.
    pub device: String,
    /// Its address.
    pub address: IpAddr,
    /// The file for a capture of what its device sends and receives.
    pub capture: Option<PathBuf>,
    /// The file for samples of its TCP sockets.
    pub sockets: Option<PathBuf>,
}

/// The sampling of TCP sockets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sockets {
    /// Time between samples, nanoseconds.
    pub interval_ns: u64,
    /// Only sockets with one of these ports at either end; none: all.
    pub ports: Vec<u16>,
}

/// One flow of the built-in traffic program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Its name in files and reports.
    pub id: String,
    /// Number of the sending host.
    pub sender: usize,
    /// Number of the receiving host.
    pub receiver: usize,
    /// The sender's port.
    pub sending_port: u16,
    /// The receiver's port.
    pub listening_port: u16,
    /// When it begins, in seconds of traffic.
    pub start_s: f64,
    /// The longest time for which it sends, seconds.
    pub duration_s: f64,
    /// The transport, and what only it has.
    pub transport: Transport,
}

/// A flow's transport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP, as fast as its congestion control lets it.
    Tcp {
        /// Its congestion control.
        cc: String,
        /// Ends after so many bytes; none: after the flow's duration.
        volume_bytes: Option<u64>,
        /// Largest segment (TCP_MAXSEG); none: the path's.
        mss_bytes: Option<u32>,
    },
    /// UDP at a constant rate.
    Udp {
        /// Payload, bits a second.
        rate_bps: f64,
        /// Payload of a datagram.
        length_bytes: u32,
    },
}

/// A program of the user, on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Its name in reports.
    pub name: String,
    /// Number of the host.
    pub host: usize,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it begins, in seconds of traffic.
    pub start_s: f64,
    /// Runs until everything else has ended, and is then ended by SIGTERM.
    pub service: bool,
    /// The congestion control whose policy it is: it prints a line once it is ready. With a `start_s` of 0 it starts
    /// before second 0, which waits for it.
    pub policy_of: Option<String>,
    /// The file for its standard output; none: the launcher's standard error.
    pub output: Option<PathBuf>,
    /// It reads changes of its parameters from standard input, a JSON mapping each line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_changes: bool,
    /// It has the launcher's standard streams, whatever `output` says.
    pub streams: bool,
    /// Its environment; none: that of a fresh host.
    pub environment: Option<BTreeMap<String, String>>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// The user and group as which it runs, without a way to more rights; none: as the guest's root.
    pub user: Option<(u32, u32)>,
}

/// A report of the guest while it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Report {
    /// The hosts are up.
    Ready {
        /// Settings of each host as reported by the kernel.
        sysctls: BTreeMap<String, String>,
        /// Names of the modules that were loaded.
        modules: Vec<String>,
        /// Parameters of kernel modules as reported by the kernel.
        module_parameters: BTreeMap<String, BTreeMap<String, String>>,
    },
    /// Second 0 of the traffic.
    TrafficStarted {
        /// UTC, nanoseconds since 1970.
        utc_ns: i64,
    },
    /// The hosts have changed.
    Changed {
        /// UTC, nanoseconds since 1970.
        utc_ns: i64,
        /// The congestion control of each open TCP flow then, as reported by the kernel.
        ccs: BTreeMap<String, String>,
    },
    /// A flow has ended.
    Flow(Box<FlowReport>),
    /// A program has ended.
    Program {
        /// Its name.
        name: String,
        /// Its exit code, 128 + the signal's number if one ended it.
        code: i32,
    },
    /// The outcome of a policy and its flows, at the end.
    Policy {
        /// Its congestion control.
        cc: String,
        /// The counters of the kernel.
        counters: BTreeMap<String, u64>,
    },
    /// All flows and programs have ended.
    TrafficStopped {
        /// UTC, nanoseconds since 1970.
        utc_ns: i64,
    },
    /// The traffic is not over at the run's limit. [`Report::Failed`] follows.
    Unfinished(Unfinished),
    /// Something failed, and with it the run.
    Failed {
        /// The problem and its fix.
        reason: String,
    },
}

/// The flows and programs that still run at a run's limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// The limit, in seconds of traffic.
    pub limit_s: f64,
    /// Names of the flows.
    pub flows: Vec<String>,
    /// Names of the programs.
    pub programs: Vec<String>,
}

/// The report of both ends of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowReport {
    /// The flow's name.
    pub id: String,
    /// The congestion control in use, as reported by the kernel; none of UDP.
    pub cc: Option<String>,
    /// When the connection was made, UTC, nanoseconds since 1970.
    pub start_utc_ns: i64,
    /// The time from there until the sender had sent its last, seconds.
    pub sending_s: f64,
    /// The time from there until the receiver had read its last, seconds.
    pub receiving_s: f64,
    /// Largest segment of the connection; of UDP the datagram's payload.
    pub segment_bytes: u32,
    /// Payload that the sender wrote.
    pub sent_bytes: u64,
    /// Payload that the receiver read.
    pub received_bytes: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// UDP: datagrams sent.
    pub sent_datagrams: u64,
    /// UDP: what the receiver saw of datagrams.
    pub datagrams: Datagrams,
    /// The sender's intervals.
    pub sender: Vec<Interval>,
    /// The receiver's.
    pub receiver: Vec<Interval>,
}

/// Datagrams as a receiver counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Datagrams {
    /// Received.
    pub received: u64,
    /// Missing, by the numbers of those that came.
    pub lost: u64,
    /// Came after one with a higher number.
    pub out_of_order: u64,
    /// Jitter of RFC 3550 section 6.4.1, milliseconds.
    pub jitter_ms: f64,
}

/// One end of a flow in one interval of a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its start, seconds since the connection was made.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
    /// Payload bytes in it.
    pub bytes: u64,
    /// The sender's TCP at its end.
    pub tcp: Option<TcpState>,
    /// The receiver's datagrams in it; of a UDP sender those sent.
    pub datagrams: Option<Datagrams>,
}

/// The state of a sender's TCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpState {
    /// Segments retransmitted in the interval.
    pub retransmissions: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// The receiver's window, bytes.
    pub send_window_bytes: u64,
    /// Smoothed RTT, microseconds.
    pub rtt_us: u32,
    /// Its variation, microseconds.
    pub rtt_variation_us: u32,
    /// Path MTU, bytes.
    pub path_mtu_bytes: u32,
}
