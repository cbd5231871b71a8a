// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::io::stdout;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand, value_parser};
use nr_link::capacity;
use nr_link::ending;
use nr_link::forward::Routes;
use nr_link::problems::{self, Format};
use nr_link::selftest;
use nr_link::session::{self, Session};
use nr_link::shell::{self, Shell};
use nr_link_model::ResolvedConfig;

/// A 5G NR link in real time between TUN devices.
///
/// Packets that a host sends into one device come out of the other when a 5G link of the configured carrier,
/// channel and path would have delivered them. The configuration's units stand in its keys (mtu_bytes, carrier_ghz,
/// delay_ms); one direction is "dl" (core to UE), the other "ul".
#[derive(Parser)]
#[command(name = "nr-link", version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the link until SIGTERM or SIGINT (needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN).
    ///
    /// Prints one JSON line, {"event":"ready","devices":[…]}, on stdout when traffic can flow; logs on stderr.
    /// mac.csv and link.csv are readable at any time; link-summary.json is written at the end.
    Run(Configuration),
    /// Check a configuration and its scenario, and print what they mean; changes nothing, needs no rights.
    Check(Configuration),
    /// Print what channel and MAC would carry without traffic, as CSV; without a clock, needs no rights.
    ///
    /// Columns: seconds; RSRP in dBm, SINR and uplink SNR a layer in dB, CQI and the MCS that goes with it (empty
    /// where the scenario gives capacity itself); downlink and uplink capacity in Mbit/s of IP packets.
    Capacity {
        #[command(flatten)]
        configuration: Configuration,
        /// How much of the scenario, seconds
        #[arg(long, default_value_t = 100.0, allow_negative_numbers = true)]
        seconds: f64,
        /// Length of the interval that a row is the mean of, milliseconds
        #[arg(long, default_value_t = 100)]
        interval_ms: u64,
    },
    /// Run a command inside the link, as its UE: between it and the server's host there is nothing but the link.
    ///
    /// As root the server is this host, with what listens on it. Others get both hosts in a user namespace, where the
    /// kernel allows it; --server starts something there. The environment tells their addresses: NR_LINK_SERVER and
    /// NR_LINK_UE. The exit code is the command's.
    Shell(Shell),
    /// Write the man pages, nr-link.1 and one for each command, into a folder.
    Man {
        /// The folder, which is made if need be
        folder: PathBuf,
    },
    /// Measure what this machine can hold, and print it as one JSON line (needs root).
    ///
    /// lateness_…_us: how late it wakes for slots of 500 µs. crossing_gbps_per_core: super-packets through two
    /// devices, Gbit/s a core, the limit of any link; link_gbps_per_core: the same through a link of given capacity that
    /// does not limit them. The receiver's TCP, which takes its time from the same core, is in neither.
    Selftest {
        /// How long to wake for slots, seconds
        #[arg(long, default_value_t = 3, value_parser = value_parser!(u64).range(1..=3600))]
        seconds: u64,
    },
}

#[derive(Args)]
struct Configuration {
    /// Configuration: a YAML file of schema nr-link/1. Relative paths in it start at its folder
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Format of errors on standard error
    #[arg(long, value_enum, default_value_t)]
    problems: Format,
}

impl Command {
    fn problems(&self) -> Format {
        match self {
            Self::Run(configuration)
            | Self::Check(configuration)
            | Self::Capacity { configuration, .. } => configuration.problems,
            Self::Shell(shell) => shell.problems,
            Self::Man { .. } | Self::Selftest { .. } => Format::Text,
        }
    }
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(wrong) if wrong.use_stderr() => {
            let format = Format::requested(std::env::args_os());
            eprintln!("{}", problems::of_command_line(&wrong, format));
            return ExitCode::from(wrong.exit_code() as u8);
        }
        Err(help) => help.exit(),
    };
    let format = options.command.problems();
    match execute(options.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{}", problems::of_error(&error, format));
            ExitCode::from(ending::code(&error))
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    if !matches!(command, Command::Run(_) | Command::Shell(_)) {
        ending::end_when_unread()?;
    }
    match command {
        Command::Run(Configuration { config, .. }) => {
            let session = Session::open(ResolvedConfig::load(&config)?)?;
            println!("{}", session.ready()?);
            session.run()?;
        }
        Command::Check(Configuration { config, .. }) => {
            let config = ResolvedConfig::load(&config)?;
            Routes::of(&config)?;
            session::model(&config)?;
            println!("{config:#?}");
        }
        Command::Capacity {
            configuration,
            seconds,
            interval_ms,
        } => {
            let config = ResolvedConfig::load(&configuration.config)?;
            capacity::write(config, seconds, interval_ms, stdout().lock())?;
        }
        Command::Selftest { seconds } => {
            println!("{}", selftest::run(Duration::from_secs(seconds))?);
        }
        Command::Shell(shell) => return shell::run(&shell).map(ExitCode::from),
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(Options::command(), &folder))
                .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
