// SPDX-License-Identifier: Apache-2.0
//! Samples every TCP connection of this network namespace at a fixed interval, and stores the kernel's
//! answers byte for byte: the reader of the file interprets them, possibly years later.
//!
//! The cost of a dump is the walk through the hash table of connections, which network namespaces share:
//! about 165 µs per address family for 262144 buckets. A namespace made while
//! `net.ipv4.tcp_child_ehash_entries` is, for example, 1024 has a small table of its own, and a sample of
//! both families costs 50 µs. IPv6 is not requested while the namespace has no such socket.

mod families;
mod inet_diag;
mod pcap;
mod port_filter;
mod schedule;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use nix::time::{ClockId, clock_gettime};

use inet_diag::InetDiag;
use pcap::PcapFile;
use schedule::{Schedule, Wake};

/// Sample the TCP sockets of this network namespace into a pcap of link type NETLINK.
///
/// Prints {"event":"ready"} when sampling has begun, and {"event":"stopped",…} with its statistics at the end.
/// SIGTERM, SIGINT or --duration end it; the file is readable at every instant, also after SIGKILL.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Interval between samples, 1ms to 60s
    #[arg(long, default_value = "20ms", value_parser = interval)]
    interval: Duration,
    /// Output file: nanosecond pcap, one record per inet_diag dump
    #[arg(long)]
    output: PathBuf,
    /// Local or remote port of the connections to sample (repeatable, at most 1000) [default: all]
    #[arg(long = "port", num_args = 1.., value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
    /// Duration after which sampling ends, such as 100s [default: until a signal]
    #[arg(long, value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let range = Duration::from_millis(1)..=Duration::from_secs(60);
    if !range.contains(&interval) {
        return Err("an interval is between 1ms and 60s".into());
    }
    Ok(interval)
}

fn main() -> std::process::ExitCode {
    match run(&Options::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "socket-sampler: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let started = Instant::now();
    let mut schedule = Schedule::start(options.interval, options.duration)?;
    let mut sockets = InetDiag::open(&options.ports)?;
    let mut file = PcapFile::create(&options.output)?;
    sample(&mut sockets, &mut file)?; // a kernel that refuses the dump does so before "ready"
    print(r#"{"event":"ready"}"#)?;
    let (mut samples, mut missed) = (1_u64, 0);
    while let Wake::Sample { missed: late } = schedule.wait()? {
        sample(&mut sockets, &mut file)?;
        samples += 1;
        missed += late;
    }
    let cpu = cpu_ratio(started.elapsed())?;
    print(&format!(
        r#"{{"event":"stopped","samples":{samples},"missed_samples":{missed},"cpu_ratio":{cpu:.4}}}"#
    ))
}

/// Writes a line on standard output. A full disk behind it is an error, not a panic.
fn print(line: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{line}").context("standard output")
}

/// CPU time of this process over `elapsed` wall time; 1 is one core.
fn cpu_ratio(elapsed: Duration) -> Result<f64> {
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).context("reading the CPU clock")?;
    Ok(Duration::from(used).as_secs_f64() / elapsed.as_secs_f64())
}

fn sample(sockets: &mut InetDiag, file: &mut PcapFile) -> Result<()> {
    sockets
        .dump(|messages| file.append(messages))
        .context("sampling the sockets")
}
