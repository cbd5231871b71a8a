// SPDX-License-Identifier: Apache-2.0
//! An experiment over a 5G NR link in virtual time: the commands of `nr-link virtual`.
//!
//! The hosts are network namespaces of a User Mode Linux kernel, an ordinary process whose clock jumps to
//! the next event as soon as nothing is runnable. The link between them is nr-link's model, in the same
//! process. `docs/virtual-time.md` describes the design.

mod account;
pub mod command;
mod confine;
mod kernel;
mod machine;
mod own_core;
mod plan_file;
mod resolve;
mod testbed_files;
mod watch;

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use nr_link_model::{Place, Problem, yaml};
use serde_json::json;

use plan_file::PlanFile;
use resolve::Resolved;
use testbed_files::FileOptions;

/// The commands of `nr-link virtual`.
#[derive(Debug, Subcommand)]
pub enum Virtual {
    /// Run a plan, and print its summary as one JSON line.
    ///
    /// Needs no privileges, and a kernel that setup/virtual-kernel builds. The same plan, link configuration and seed
    /// give byte-identical packets on every machine.
    Run {
        /// Plan: a YAML or JSON file of schema nr-link-virtual/1. Relative paths in it start at its folder
        #[arg(value_name = "FILE")]
        plan: PathBuf,
        /// The files besides this program
        #[command(flatten)]
        files: FileOptions,
    },
    /// Check a plan, its link configuration and scenarios, and print the resolved plan.
    Check {
        /// Plan: a YAML or JSON file of schema nr-link-virtual/1
        #[arg(value_name = "FILE")]
        plan: PathBuf,
    },
    /// Check whether this machine can run the kernel; print its path and its congestion controls as one JSON line.
    Doctor {
        /// The files besides this program
        #[command(flatten)]
        files: FileOptions,
    },
}

/// Executes a command.
///
/// # Errors
/// Bad input; an [`io::Error`] or [`nix::errno::Errno`] in the chain if the machine or the run failed.
pub fn execute(command: Virtual) -> Result<()> {
    match command {
        Virtual::Run { plan, files } => {
            let (file, resolved) = read(&plan)?;
            let files = files.find()?;
            machine::check(file.memory_mb)?;
            let folder = resolve::output_folder(&file, &plan)?;
            std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            let ended = kernel::run(&files, &file, &resolved, None)?;
            if let Some(account) = account::write_unfinished(&folder, &ended)? {
                print(account)?;
            }
            let ended = ended.checked()?;
            print(account::write(&folder, &resolved.plan.run, &ended)?)?;
        }
        Virtual::Check { plan } => {
            let (_, resolved) = read(&plan)?;
            print(serde_json::to_string_pretty(&resolved.plan)?)?;
        }
        Virtual::Doctor { files } => {
            let files = files.find()?;
            machine::check(plan_file::LEAST_MEMORY_MB)?;
            let congestion_controls = files.congestion_controls()?;
            print(json!({"kernel": files.kernel, "congestion_controls": congestion_controls}))?;
        }
    }
    Ok(())
}

/// Writes a line on standard output. A full disk behind it is an error, not a panic.
fn print(text: impl Display) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("standard output")
}

/// Reads, checks and completes a plan.
fn read(plan: &Path) -> Result<(PlanFile, Resolved)> {
    let file = PlanFile::read(plan)?;
    match resolve::resolve(&file, plan) {
        Ok(resolved) => Ok((file, resolved)),
        Err(error) => {
            let problem = error.downcast::<Problem>()?;
            if problem.place.file.is_some() {
                return Err(problem.into());
            }
            // It was readable a moment ago; without it, the line is left out.
            let text = std::fs::read_to_string(plan).unwrap_or_default();
            Err(yaml::located(problem, &text, plan).into())
        }
    }
}

/// Returns the error of a machine that lacks or forbids something, with its fix.
fn lacking(rule: String, fix: impl Into<String>) -> anyhow::Error {
    let (place, fix) = (Place::default(), fix.into());
    io::Error::other(Problem { place, rule, fix }).into()
}

/// A signal ended the run.
#[derive(Debug)]
pub struct Interrupted;

impl Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ended by a signal")
    }
}

impl std::error::Error for Interrupted {}

/// An error of the machine or the run, not of the input.
fn failed(message: String) -> anyhow::Error {
    io::Error::other(message).into()
}
