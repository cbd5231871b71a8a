// SPDX-License-Identifier: Apache-2.0
//! The command line.

use std::fmt::Display;
use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, value_parser};
use nr_link::capacity;
use nr_link::exit;
use nr_link::forward::Routes;
use nr_link::problems::{self, Format};
use nr_link::resolved;
use nr_link::selftest;
use nr_link::session::Session;
use nr_link::shell::{self, Shell};
use nr_link_model::samples::csv_columns;
use nr_link_model::{Link, Source, aqm, config, scenario};
use nr_link_virtual_launcher::Virtual;
use nr_link_virtual_radio::RadioArguments;
use serde_json::{Value, json};

/// A 5G NR link in real time between TUN devices.
///
/// Packets that a host sends into one device leave the other device when a 5G link with the configured carrier,
/// channel and path would have delivered them. The keys of the configuration name their units (mtu_bytes,
/// carrier_ghz, delay_ms). "dl" is the direction from core to UE, "ul" from UE to core.
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
    /// Prints one JSON line, {"event":"ready","devices":[…]}, on standard output when traffic can flow, and logs on
    /// standard error. mac.csv and link.csv are readable at any time; link-summary.json is written at the end.
    Run(Configuration),
    /// Check a configuration and its scenarios, and print the resolved configuration. Needs no privileges.
    Check {
        #[command(flatten)]
        configuration: Configuration,
        /// Print the resolved radio as one JSON line
        #[arg(long)]
        json: bool,
    },
    /// Check scenarios, and print what each sets as one JSON line. Needs no privileges.
    Scenario {
        /// Scenarios: YAML files of schema rf-scenario/1
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Format of errors on standard error
        #[arg(long, value_enum, default_value_t)]
        problems: Format,
    },
    /// Print the capacity of channel and MAC without traffic, as CSV. Needs no privileges.
    ///
    /// Columns: time in s; RSRP in dBm, SINR and uplink SNR of a layer in dB, CQI and its MCS (empty for a scenario
    /// with capacity); downlink and uplink capacity in Mbit/s of IP packets.
    Capacity {
        #[command(flatten)]
        configuration: Configuration,
        /// Duration of the scenario to play, s
        #[arg(long, default_value_t = 100.0, allow_negative_numbers = true)]
        seconds: f64,
        /// Length of the averaging interval of a row, ms
        #[arg(long, default_value_t = 100)]
        interval_ms: u64,
    },
    /// List the names that this version knows, as JSON.
    List {
        /// The names to list
        #[arg(value_enum)]
        what: Listed,
    },
    /// Print the JSON Schema of what a user writes, for editors and other programs.
    Schema {
        /// Form to describe
        #[arg(value_enum)]
        what: Described,
    },
    /// Run a command on the UE's side of a link.
    ///
    /// As root, the server is this host, with the services that it runs. Without root, both hosts are in a new user
    /// namespace, if the kernel allows it; --server starts a service there. The environment variables NR_LINK_SERVER
    /// and NR_LINK_UE hold the addresses. The exit code is the command's.
    Shell(Shell),
    /// Run an experiment in virtual time, with a Linux kernel of its own. Needs no privileges.
    Virtual {
        #[command(subcommand)]
        command: Virtual,
        /// Format of errors on standard error
        #[arg(long, value_enum, default_value_t, global = true)]
        problems: Format,
    },
    /// Run a radio of OpenAirInterface's rfsim slot by slot, for hosts in virtual time.
    ///
    /// Stands between UE and gNB. Prints {"event":"ready"} when both may connect. ccu run --testbed rfsim --lockstep
    /// starts it.
    Radio(RadioArguments),
    /// Write the man pages, nr-link.1 and one for each command, to a folder.
    Man {
        /// Folder for the man pages; created if it does not exist
        folder: PathBuf,
    },
    /// Measure the timing and throughput of this machine, and print them as one JSON line. Needs root.
    ///
    /// lateness_…_us: lateness of wake-ups for slots of 500 µs. crossing_gbps_per_core: GSO packets through two
    /// devices, Gbit/s per core, the limit of any link. link_gbps_per_core: the same through a link of unlimited
    /// capacity. The receiver's TCP, which runs on the same core, is not included.
    Selftest {
        /// Duration of the timing measurement, s
        #[arg(long, default_value_t = 3, value_parser = value_parser!(u64).range(1..=3600))]
        seconds: u64,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Listed {
    /// Algorithms of active queue management, the keys of `aqm`: objects with "name" and "summary"
    Aqm,
    /// Columns of mac.csv: names
    Columns,
}

#[derive(Clone, Copy, ValueEnum)]
enum Described {
    /// The key `radio` of a configuration and of an experiment
    Radio,
    /// Scenario: a file of schema rf-scenario/1
    Scenario,
}

#[derive(Args)]
struct Configuration {
    /// Configuration: a YAML file of schema nr-link/1, or - for standard input. Relative paths in it start at its
    /// folder
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
            | Self::Check { configuration, .. }
            | Self::Capacity { configuration, .. } => configuration.problems,
            Self::Shell(shell) => shell.problems,
            Self::Virtual { problems, .. } | Self::Scenario { problems, .. } => *problems,
            Self::List { .. }
            | Self::Man { .. }
            | Self::Radio(_)
            | Self::Schema { .. }
            | Self::Selftest { .. } => Format::Text,
        }
    }
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(wrong) if wrong.use_stderr() => {
            let format = Format::requested(std::env::args_os());
            report(problems::render_command_line_error(&wrong, format));
            return ExitCode::from(wrong.exit_code() as u8);
        }
        Err(help) => help.exit(),
    };
    let format = options.command.problems();
    match execute(options.command) {
        Ok(code) => code,
        Err(error) => {
            report(problems::render_error(&error, format));
            ExitCode::from(exit::code(&error))
        }
    }
}

/// Writes a line on standard output. A full disk behind it is an error, not a panic.
fn print(text: impl Display) -> Result<()> {
    writeln!(stdout(), "{text}").context("standard output")
}

/// Writes a line on standard error; where that cannot be written, the exit code is what remains.
fn report(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}

fn list(what: Listed) -> Value {
    let algorithm = |(name, summary): &(_, _)| json!({"name": name, "summary": summary});
    match what {
        Listed::Aqm => aqm::CATALOGUE.iter().map(algorithm).collect(),
        Listed::Columns => json!(csv_columns()),
    }
}

fn schema(what: Described) -> Result<String> {
    let schema = match what {
        Described::Radio => config::radio_schema(),
        Described::Scenario => scenario::schema(),
    };
    Ok(serde_json::to_string_pretty(&schema)?)
}

fn execute(command: Command) -> Result<ExitCode> {
    if !matches!(command, Command::Run(_) | Command::Shell(_)) {
        exit::restore_sigpipe()?;
    }
    match command {
        Command::Run(Configuration { config, .. }) => {
            let session = Session::open(resolved::load(&config)?)?;
            print(session.ready()?)?;
            session.run()?;
        }
        Command::Check {
            configuration,
            json,
        } => {
            let config = resolved::load(&configuration.config)?;
            Routes::of(&config)?;
            let source = Source::load(&config)?;
            let warnings = source.warnings(&config);
            Link::<()>::new(&config, source)?;
            match json {
                true => print(resolved::config(&config, &warnings))?,
                false => print(format_args!("{config:#?}"))?,
            }
        }
        Command::Scenario { files, .. } => {
            for file in files {
                print(resolved::scenario(&file)?)?;
            }
        }
        Command::Capacity {
            configuration,
            seconds,
            interval_ms,
        } => {
            let config = resolved::load(&configuration.config)?;
            capacity::write(config, seconds, interval_ms, stdout().lock())?;
        }
        Command::List { what } => print(list(what))?,
        Command::Schema { what } => print(schema(what)?)?,
        Command::Selftest { seconds } => {
            print(selftest::run(Duration::from_secs(seconds))?)?;
        }
        Command::Shell(shell) => return shell::run(&shell).map(ExitCode::from),
        Command::Virtual { command, .. } => nr_link_virtual_launcher::execute(command)?,
        Command::Radio(arguments) => nr_link_virtual_radio::run(&arguments)?,
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(Options::command(), &folder))
                .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
