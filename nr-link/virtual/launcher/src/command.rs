// SPDX-License-Identifier: Apache-2.0
//! A command of the user on a host of a link, with this process's standard streams.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use nr_link_virtual_plan::{Program, Report};
use serde_json::json;

use crate::testbed_files::FileOptions;
use crate::{account, failed, kernel, machine, read};

/// The program's name in reports.
const NAME: &str = "command";
const SHELL: &str = "/bin/sh";
/// A server listens by then, in virtual time.
const SERVER_START_S: f64 = 0.3;
/// A day of virtual time: what waits longer waits for nothing.
const LIMIT_S: f64 = 86_400.0;

/// The command to run, and its host.
#[derive(Debug)]
pub struct Command<'a> {
    /// The link's configuration.
    pub link: &'a Path,
    /// The folder for the plan.
    pub folder: &'a Path,
    /// Whether `folder` is to have the link's samples and the account of the run, too.
    pub keep: bool,
    /// The program and its arguments.
    pub words: &'a [String],
    /// The host that it runs on: `ue` or `server`.
    pub host: &'a str,
    /// A shell command that runs on the server meanwhile.
    pub server: Option<&'a str>,
}

impl Command<'_> {
    /// Runs it until it ends; gives its exit code, 128 + the signal's number if one ended it.
    ///
    /// # Errors
    /// Bad input; the machine cannot run the kernel; the kernel failed, or a signal ended this.
    pub fn run(&self) -> Result<u8> {
        let plan = self.folder.join("plan.json");
        fs::write(&plan, format!("{:#}\n", self.plan()))
            .with_context(|| format!("cannot write {}", plan.display()))?;
        let (file, mut resolved) = read(&plan)?;
        let run = &mut resolved.plan.run;
        run.samples = self.keep.then(|| self.folder.to_owned());
        let addresses = [("NR_LINK_SERVER", 0), ("NR_LINK_UE", 1)];
        let addresses = addresses.map(|(name, host)| (name, run.hosts[host].address.to_string()));
        let folder = std::env::current_dir().context("the current folder")?;
        for program in &mut run.programs {
            on_behalf_of_the_user(program, &addresses, &folder);
        }
        let files = FileOptions::of_environment().find()?;
        machine::check(file.memory_mb)?;
        // Else a signal would end this process before it has removed what it made.
        let set = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        set.thread_block().context("signals")?;
        let signals = SignalFd::new(&set).context("signals")?;
        let ended = kernel::run(&files, &file, &resolved, Some(&signals))?.checked()?;
        if self.keep {
            account::write(self.folder, &resolved.plan.run, &ended)?;
        }
        let code = ended.reports.iter().find_map(|report| match report {
            Report::Program { name, code } if name == NAME => Some(*code as u8),
            _ => None,
        });
        code.ok_or_else(|| failed("the command did not say how it ended".to_owned()))
    }

    fn plan(&self) -> serde_json::Value {
        let command = json!({
            "name": NAME,
            "host": self.host,
            "command": self.words,
            "start_s": self.server.map_or(0.0, |_| SERVER_START_S),
        });
        let server = self.server.map(|line| {
            json!({
                "name": "server", "host": "server", "command": [SHELL, "-c", line], "service": true,
            })
        });
        json!({
            "schema": "nr-link-virtual/1",
            "link": std::path::absolute(self.link).unwrap_or(PathBuf::from(self.link)),
            "limit_s": LIMIT_S,
            "programs": server.into_iter().chain([command]).collect::<Vec<_>>(),
        })
    }
}

/// With the user's environment and folder; the command with the standard streams.
fn on_behalf_of_the_user(program: &mut Program, addresses: &[(&str, String)], folder: &Path) {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let addresses = addresses
        .iter()
        .map(|(name, address)| ((*name).to_owned(), address.clone()));
    program.environment = Some(own.chain(addresses).collect::<BTreeMap<_, _>>());
    program.streams = program.name == NAME;
    folder.clone_into(&mut program.folder);
}
