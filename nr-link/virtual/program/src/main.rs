// SPDX-License-Identifier: Apache-2.0
//! nr-link-virtual: an experiment over a 5G NR link in virtual time.
//!
//! The hosts are network namespaces of a User Mode Linux kernel, an ordinary process whose clock jumps to
//! the next event as soon as nothing is runnable. The link between them is nr-link's model, in the same
//! process. `docs/virtual-time.md` describes the design.

mod account;
mod ending;
mod iperf3;
mod kernel;
mod machine;
mod parts;
mod plan_file;
mod resolve;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use ending::Ending;
use parts::Parts;
use plan_file::PlanFile;

/// Run an experiment over a 5G NR link in virtual time.
///
/// Needs no rights, and a kernel that setup/virtual-kernel builds. The same plan, link configuration and seed
/// give the same packets, to the byte, on every machine.
#[derive(Parser)]
#[command(name = "nr-link-virtual", version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a plan; print its account as one JSON line.
    Run {
        /// YAML or JSON file of schema nr-link-virtual/1; relative paths in it begin at its folder
        plan: PathBuf,
        #[command(flatten)]
        parts: Parts,
    },
    /// Check a plan, its link's configuration and scenario; change nothing.
    Check {
        /// YAML or JSON file of schema nr-link-virtual/1
        plan: PathBuf,
    },
    /// Check what this machine lets the kernel do, and print the kernel's path.
    Doctor {
        #[command(flatten)]
        parts: Parts,
    },
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(answer) => answer.exit(),
    };
    match execute(options.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nr-link-virtual: error: {error:#}");
            ExitCode::from(ending::code(&error))
        }
    }
}

fn execute(command: Command) -> Result<()> {
    match command {
        Command::Run { plan, parts } => {
            let file = PlanFile::read(&plan)?;
            let run = resolve::run(&file, &plan)?;
            let parts = parts.find()?;
            machine::check(file.memory_mb)?;
            let ended = kernel::run(&parts, &file, &run)?;
            let account = account::write(&resolve::output_folder(&file, &plan)?, &run, ended)?;
            println!("{account}");
        }
        Command::Check { plan } => {
            let run = resolve::run(&PlanFile::read(&plan)?, &plan)?;
            println!("{}", serde_json::to_string_pretty(&run)?);
        }
        Command::Doctor { parts } => {
            let parts = parts.find()?;
            machine::check(plan_file::LEAST_MEMORY_MB)?;
            println!("{}", parts.kernel.display());
        }
    }
    Ok(())
}

/// Marks an error as the machine's or the run's, not the input's.
fn failed(message: String) -> anyhow::Error {
    Ending::Failed(message).into()
}
