// SPDX-License-Identifier: Apache-2.0
//! One end of a flow by QUIC (RFC 9000) with quinn's protocol machine: one thread, no wall clock, and nothing random
//! without a seed, so that a run in virtual time gives the same bytes each time.

mod arrivals;
mod certificate;
mod clock;
mod ending;
mod endpoint;
mod plane;
mod policy;
mod qlog;
mod receiver;
mod records;
mod seed;
mod sender;
mod socket;
mod tls;
mod transport;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use quinn_proto::{ClientConfig, ServerConfig};
use ring::hkdf;
use serde::Serialize;

use clock::Clock;
use endpoint::Endpoint;
use policy::Policy;
use qlog::Log;
use receiver::Receiver;
use seed::{ConnectionIds, Seed};
use sender::{Load, Sender};
use socket::Socket;
use transport::{CongestionControl, Factory, Settings};

/// Send or receive one flow by QUIC.
///
/// Each end prints a JSON object when it ends. Exit code 1: the flow failed, for the reason on standard error.
#[derive(Parser)]
#[command(version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write quic-certificate.pem and quic-key.pem, which follow from the seed
    Certificate {
        /// Folder for both files
        folder: PathBuf,
        /// Random seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Wait for a sender, and count what arrives
    Receive(Receive),
    /// Send for a time, or a volume
    Send(Send),
}

#[derive(Args)]
struct Common {
    /// Own address and UDP port
    #[arg(long)]
    address: SocketAddr,
    /// Certificate of the receiver, PEM
    #[arg(long)]
    certificate: PathBuf,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Name of the flow
    #[arg(long, default_value = "f0")]
    name: String,
    /// Limit of the bytes in flight: the receiver's window, or the sender's buffer
    #[arg(long, default_value_t = 6 << 20)]
    window: u32,
    /// MTU of the interface, in bytes
    #[arg(long, default_value_t = 1500)]
    mtu: u16,
    /// Most streams at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    streams: u32,
    /// Send packets with ECT(0) (RFC 9000 section 13.4)
    #[arg(long)]
    ecn: bool,
    /// File for the qlog
    #[arg(long)]
    qlog: Option<PathBuf>,
    /// File for the secrets, which decrypt a capture
    #[arg(long)]
    keys: Option<PathBuf>,
}

#[derive(Args)]
struct Receive {
    #[command(flatten)]
    common: Common,
    /// Private key of the certificate, PEM
    #[arg(long)]
    key: PathBuf,
    /// Time after which it ends in any case, in s
    #[arg(long, value_parser = seconds)]
    limit: Duration,
}

#[derive(Args)]
struct Send {
    #[command(flatten)]
    common: Common,
    /// The receiver's address and UDP port
    #[arg(long)]
    to: SocketAddr,
    /// Congestion control
    #[arg(long, default_value = "cubic")]
    cc: CongestionControl,
    /// Time for which it sends, in s; of a volume the longest
    #[arg(long, value_parser = seconds)]
    duration: Duration,
    /// Volume to send, in bytes [default: as much as the time allows]
    #[arg(long)]
    volume: Option<u64>,
    /// Send in datagrams (RFC 9221), not on streams
    #[arg(long)]
    datagrams: bool,
    /// Begin with 0-RTT, after a first connection
    #[arg(long)]
    zero_rtt: bool,
    /// Time that the handshake may take, in s
    #[arg(long, value_parser = seconds, default_value = "10")]
    patience: Duration,
    /// Program of a policy that decides in place of the congestion control, with its arguments: python -m ccplane run FILE
    #[arg(last = true)]
    policy: Vec<String>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "is not a number of seconds")?;
    if !(0.0..=1e6).contains(&seconds) {
        return Err("is not between 0 and 1000000 s".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn main() -> ExitCode {
    let outcome = match Options::parse().command {
        Command::Certificate { folder, seed } => certificate::write(&folder, seed),
        Command::Receive(options) => receive(&options),
        Command::Send(options) => send(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "quic-flow: {error:#}");
            // Who reads the report finds the reason in it.
            let _ = print(&serde_json::json!({"error": format!("{error:#}")}));
            ExitCode::FAILURE
        }
    }
}

fn receive(options: &Receive) -> Result<()> {
    let common = &options.common;
    let clock = Clock::start();
    let seed = Seed::new(common.seed, &format!("{} receiver", common.name));
    let log = log(common, "server", &clock)?;
    let tls = tls::server(&common.certificate, &options.key, common.keys.as_deref())?;
    let token_key = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&seed.bytes("token key"));
    let mut config = ServerConfig::new(Arc::new(tls), Arc::new(token_key));
    config
        .time_source(Arc::new(tls::FixedTime))
        .transport_config(transport::config(settings(
            common,
            CongestionControl::Cubic.factory(),
            &log,
        ))?);
    let socket = Socket::bind(common.address, common.mtu, common.ecn)?;
    let mut receiver = Receiver::new(options.limit, clock.read());
    let mut endpoint = Endpoint::new(clock, socket, &seed, Some(config), log, None);
    endpoint.run(&mut receiver, common.address)?;
    print(&receiver.report()?)
}

fn send(options: &Send) -> Result<()> {
    let common = &options.common;
    let clock = Clock::start();
    let seed = Seed::new(common.seed, &format!("{} sender", common.name));
    let log = log(common, "client", &clock)?;
    let policy = (!options.policy.is_empty())
        .then(|| Policy::start(&options.policy, &clock, common.address, options.to))
        .transpose()?;
    let plane = policy.as_ref().map(|policy| policy.plane().clone());
    let congestion: Factory = match &plane {
        Some(plane) => Arc::new(plane.clone()),
        None => options.cc.factory(),
    };
    let tls = tls::client(&common.certificate, common.keys.as_deref())?;
    let mut config = ClientConfig::new(Arc::new(tls));
    let ids = ConnectionIds::new(&Seed::new(
        common.seed,
        &format!("{} first IDs", common.name),
    ));
    config
        .initial_dst_cid_provider(Arc::new(move || ids.next()))
        .transport_config(transport::config(settings(common, congestion, &log))?);
    let load = Load {
        duration: options.duration,
        volume_bytes: options.volume,
        streams: common.streams.into(),
        in_datagrams: options.datagrams,
        with_zero_rtt: options.zero_rtt,
        patience: options.patience,
    };
    let socket = Socket::bind(common.address, common.mtu, common.ecn)?;
    let mut sender = Sender::new(load, config, clock.read());
    Endpoint::new(clock, socket, &seed, None, log, policy).run(&mut sender, options.to)?;
    let mut report = serde_json::to_value(sender.report())?;
    if let Some(plane) = plane {
        report["policy"] = serde_json::to_value(plane.counters())?;
    }
    print(&report)
}

fn settings(common: &Common, congestion: Factory, log: &Option<Log>) -> Settings {
    Settings {
        congestion,
        window_bytes: common.window,
        mtu_bytes: common.mtu,
        streams: common.streams,
        qlog: log.as_ref().and_then(Log::stream),
    }
}

fn log(common: &Common, vantage_point: &str, clock: &Clock) -> Result<Option<Log>> {
    let Some(file) = &common.qlog else {
        return Ok(None);
    };
    Log::create(file, &common.name, vantage_point, clock).map(Some)
}

fn print(report: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(report)?;
    writeln!(std::io::stdout(), "{line}").context("standard output")
}
