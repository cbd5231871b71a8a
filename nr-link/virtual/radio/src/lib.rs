// SPDX-License-Identifier: Apache-2.0
//! A real radio in lockstep with hosts in virtual time: `nr-link radio`.
//!
//! It stands between the modems of OpenAirInterface's rfsim, gNB and UEs, and lets their samples pass slot
//! by slot. Packets of the hosts are carried by datagrams of its own through the radio's tunnel.
//! `docs/oai.md` describes the design.

mod emulation;
mod gate;
mod pace;
mod radio;
mod sample_block;
mod steps;
mod switches;
mod threads;
mod tunnel;
mod uplink;
mod wall_times;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, value_parser};
use nix::sys::prctl;
use nr_link_virtual_plan::radio::{Answer, Request};

use emulation::{Antennas, Emulation};
use radio::Radio;
use wall_times::WallTimes;

/// The addresses of the modems, and the slot.
#[derive(Debug, Args)]
pub struct RadioArguments {
    /// Address and port for the UEs' connections, which get the configuration's UEs in turn
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address and port of the gNB's rfsim server
    #[arg(long, value_name = "ADDRESS:PORT")]
    gnb: SocketAddr,
    /// Unix socket for requests, one JSON value a line; it must not exist
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Samples in a slot
    #[arg(long, value_parser = value_parser!(u64).range(1..))]
    slot_samples: u64,
    /// Length of a slot, ns
    #[arg(long, default_value_t = 500_000, value_parser = value_parser!(u64).range(1..))]
    slot_ns: u64,
    /// Link configuration whose scenario the samples meet (default: they pass unchanged)
    #[arg(long, value_name = "FILE")]
    channel: Option<PathBuf>,
    /// Antennas of gNB and UE, with --channel
    #[arg(long, value_name = "GNBxUE", default_value = "1x1")]
    antennas: Antennas,
    /// SNR at the gNB to which the power of UEs is controlled, up to P_CMAX, with --channel (default: they have that of their
    /// downlink)
    #[arg(long, value_name = "DB", allow_negative_numbers = true)]
    uplink_target: Option<f64>,
    /// File for the channel over time, with --channel: level, SINR and taps each 20 slots
    #[arg(long, value_name = "CSV")]
    channel_record: Option<PathBuf>,
    /// File for the wall time of each slot
    #[arg(long, value_name = "CSV")]
    slot_record: Option<PathBuf>,
}

impl RadioArguments {
    fn emulation(&self) -> Result<Option<Emulation>> {
        let rate_hz = self.slot_samples as f64 / (self.slot_ns as f64 * 1e-9);
        let load = |link: &PathBuf| {
            let record = self.channel_record.clone();
            Emulation::load(link, self.antennas, rate_hz, self.uplink_target, record)
        };
        self.channel.as_ref().map(load).transpose()
    }
}

/// Connects UEs and gNB, and answers requests, until it is ended.
///
/// # Errors
/// An address or path cannot be used; the channel's configuration breaks a rule.
pub fn run(arguments: &RadioArguments) -> Result<()> {
    // Each slot has several pauses of microseconds; by default Linux adds up to 50 µs to each.
    let _ = prctl::set_timerslack(1);
    let emulation = arguments.emulation()?;
    let wall_times = arguments.slot_record.clone().map(WallTimes::create);
    let slot = (arguments.slot_samples, arguments.slot_ns);
    let radio = Radio::new(slot, emulation, wall_times.transpose()?);
    let radio = Arc::new(radio);
    let path = || arguments.socket.display().to_string();
    let requests = UnixListener::bind(&arguments.socket).with_context(path)?;
    let samples = TcpListener::bind(arguments.listen);
    let samples = samples.with_context(|| arguments.listen.to_string())?;
    let of_modems = Arc::clone(&radio);
    let gnb = arguments.gnb;
    std::thread::spawn(move || serve_modems(&of_modems, &samples, gnb));
    writeln!(std::io::stdout(), "{{\"event\":\"ready\"}}").context("standard output")?;
    for client in requests.incoming() {
        let (radio, client) = (Arc::clone(&radio), client.with_context(path)?);
        std::thread::spawn(move || serve(&radio, &client));
    }
    Ok(())
}

/// Connects each UE that comes with the gNB.
fn serve_modems(radio: &Radio, samples: &TcpListener, gnb: SocketAddr) {
    for ue in samples.incoming() {
        let connect = || -> Result<()> { radio.connect(gnb, ue.context("accepting the UE")?) };
        if let Err(error) = connect() {
            let _ = writeln!(std::io::stderr(), "nr-link: {error:#}");
        }
    }
}

/// Answers the requests of one client.
fn serve(radio: &Radio, client: &UnixStream) {
    // Whether the radio waits for requests of this client, and must go on without them when it ends.
    let mut meets = false;
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) => {
                meets |= matches!(request, Request::Meet { .. });
                radio.answer(request)
            }
            Err(error) => Answer::Failed {
                reason: format!("no request: {error}"),
            },
        };
        let mut text =
            serde_json::to_vec(&answer).expect("an answer is always JSON: its only keys are text");
        text.push(b'\n');
        if (&mut &*client).write_all(&text).is_err() {
            break;
        }
    }
    if meets {
        radio.meet_no_more();
    }
}
