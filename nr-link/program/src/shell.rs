// SPDX-License-Identifier: Apache-2.0
//! A command on the UE's host of a link; the server is the caller's host, or one in a new user
//! namespace.

mod command;
mod folder;
mod hosts;
mod link;

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpid, getppid};

use crate::netns::Namespace;
use crate::problems::{self, Format};
use crate::session::Session;
use folder::Folder;
use hosts::Hosts;

/// Options of `nr-link shell`.
#[derive(Debug, Args)]
pub struct Shell {
    /// In virtual time, with a Linux kernel of its own: no root, and time waits for the machine and for standard input.
    /// Without --trace and --config, the link is a 5G carrier of 106 PRB with a static channel
    #[arg(long = "virtual")]
    virtual_time: bool,
    /// Width of a 5G carrier of 30 kHz with a static channel, PRB: 106 are 40 MHz
    #[arg(long, conflicts_with_all = ["trace", "config"])]
    prb: Option<u32>,
    /// Host that the command runs on
    #[arg(long, value_enum, default_value_t, requires = "virtual_time")]
    on: On,
    /// Uplink and downlink capacity, in this order, as traces in Mahimahi's format: one line for each opportunity of
    /// 1504 bytes, with its time in ms
    #[arg(long, num_args = 2, value_names = ["UP", "DOWN"], required_unless_present_any = ["config", "prb", "virtual_time"], conflicts_with = "config")]
    trace: Option<Vec<PathBuf>>,
    /// Configuration in place of --trace: a YAML file of schema nr-link/1, with one UE and no netns
    #[arg(long)]
    config: Option<PathBuf>,
    /// Format of errors on standard error
    #[arg(long, value_enum, default_value_t)]
    pub problems: Format,
    /// One-way delay of the path, ms
    #[arg(
        long,
        default_value_t = 0.0,
        allow_negative_numbers = true,
        value_parser = finite,
        conflicts_with = "config"
    )]
    delay_ms: f64,
    /// Random packet loss in each direction, a ratio between 0 and 1
    #[arg(long, default_value_t = 0.0, value_parser = finite, conflicts_with = "config")]
    loss_ratio: f64,
    /// Queue limit in each direction, packets
    #[arg(long, default_value_t = 3200, conflicts_with = "config")]
    queue_packets: u64,
    /// Folder that keeps mac.csv, link-summary.json, link.yaml and, in real time, link.csv; without it they are deleted
    #[arg(long)]
    output: Option<PathBuf>,
    /// Shell command to run on the server's host; it is terminated with the link
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Command to run on the UE, with its arguments (default: your shell)
    #[arg(last = true)]
    command: Vec<String>,
}

/// A host of the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum On {
    /// The UE's
    #[default]
    Ue,
    /// The server's
    Server,
}

/// Parses a finite number: JSON has no NaN, and its null would count as absent.
fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "is not a finite number; write digits, such as 0.01".to_owned())
}

/// Time for a server to start listening, and for a process to terminate after SIGTERM.
const SERVER_START: Duration = Duration::from_millis(300);
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the command and waits for its end; returns its exit code, 128 + the number of the signal that ended it, or a
/// shell's code for a program that is not there.
///
/// # Errors
/// The link cannot be made or fails; the command cannot be started.
pub fn run(shell: &Shell) -> Result<u8> {
    if let Some((problem, code)) = shell.command.first().and_then(|one| command::refused(one)) {
        let message = problems::render_error(&problem.into(), shell.problems);
        let _ = writeln!(std::io::stderr(), "{message}");
        return Ok(code);
    }
    let folder = Folder::of(shell.output.as_deref())?;
    let config = link::config(shell, folder.path())?;
    if shell.virtual_time {
        return in_virtual_time(shell, folder.path(), &config.file);
    }
    // Ctrl-C is for the command, as in any shell.
    SigSet::from_iter([Signal::SIGINT, Signal::SIGQUIT])
        .thread_block()
        .context("blocking signals")?;
    let hosts = Hosts::make()?;
    let signals = [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGHUP];
    let mut session = Session::open_at(&config, &hosts.namespaces(), &signals)?;
    let addresses = hosts.address(&session)?;
    let mut server = match &shell.server {
        None => None,
        Some(line) => {
            let mut command = Command::new("/bin/sh");
            command
                .args(["-c", line])
                .stdin(Stdio::null())
                .process_group(0);
            let server = start(command, None, &addresses)?;
            std::thread::sleep(SERVER_START);
            Some(server)
        }
    };
    session.count_changes_from_now();
    let mut command = start(wanted(&shell.command), Some(hosts.ue()), &addresses);
    let outcome = match &mut command {
        Ok(command) => session
            .run_until(|signal| Ok(signal != Signal::SIGCHLD || command.try_wait()?.is_some())),
        Err(_) => Ok(serde_json::Value::Null),
    };
    if let Some(server) = &mut server {
        terminate(server, Target::Group)?;
    }
    let status = terminate(&mut command?, Target::Process)?;
    report(&outcome?);
    Ok(code(status))
}

fn in_virtual_time(shell: &Shell, folder: &Path, link: &Path) -> Result<u8> {
    let own_shell = [own_shell()];
    let command = nr_link_virtual_launcher::command::Command {
        link,
        folder,
        keep: shell.output.is_some(),
        words: match &shell.command[..] {
            [] => &own_shell,
            words => words,
        },
        host: match shell.on {
            On::Ue => "ue",
            On::Server => "server",
        },
        server: shell.server.as_deref(),
    };
    command.run()
}

fn wanted(command: &[String]) -> Command {
    match command {
        [] => Command::new(own_shell()),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    }
}

fn own_shell() -> String {
    std::env::var("SHELL").unwrap_or("/bin/sh".into())
}

/// Starts a command on a host; `None` is the server's, which is the current one.
fn start(
    mut command: Command,
    host: Option<&Namespace>,
    addresses: &[(&str, String)],
) -> Result<Child> {
    command.envs(addresses.iter().map(|(name, address)| (name, address)));
    let host = host.map(Namespace::try_clone).transpose()?;
    let parent = getpid();
    // SAFETY: between fork and exec, the child makes only system calls.
    unsafe {
        command.pre_exec(move || {
            if let Some(host) = &host {
                host.enter()?;
            }
            SigSet::all().thread_unblock()?;
            // If this process is killed, what it started ends, too: also an interactive shell, which ignores SIGTERM.
            set_pdeathsig(Signal::SIGHUP)?;
            if getppid() != parent {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Ok(())
        });
    }
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .spawn()
        .with_context(|| format!("cannot start {program}; is it installed, and on the PATH?"))
}

/// The target of a signal.
#[derive(Clone, Copy)]
enum Target {
    /// The child alone, which shares its process group with this process and the terminal.
    Process,
    /// The child and its descendants.
    Group,
}

/// Waits for a process that has ended, or ends it with SIGTERM, then SIGKILL.
fn terminate(child: &mut Child, group: Target) -> Result<ExitStatus> {
    let own = child.id() as i32;
    let target = Pid::from_raw(match group {
        Target::Process => own,
        Target::Group => -own,
    });
    let deadline = Instant::now() + TERMINATION_TIMEOUT;
    let mut signal = None;
    if let Target::Group = group {
        // What the child has left in its group when it ended before.
        let _ = kill(target, Signal::SIGTERM);
        signal = Some(Signal::SIGTERM);
    }
    loop {
        if let Some(status) = child.try_wait().context("waiting for a command")? {
            if let Target::Group = group {
                let _ = kill(target, Signal::SIGKILL);
            }
            return Ok(status);
        }
        let stronger = match signal {
            None => Some(Signal::SIGTERM),
            Some(Signal::SIGTERM) if Instant::now() > deadline => Some(Signal::SIGKILL),
            Some(_) => None,
        };
        if stronger.is_some() {
            // The process may terminate at this moment; the signal then has no target.
            let _ = kill(target, stronger);
            signal = stronger;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.map_or(u8::MAX, |code| code as u8)
}

/// Prints the reasons of a verdict other than `valid`.
fn report(summary: &serde_json::Value) {
    let reasons = summary["verdict_reasons"].as_array();
    for reason in reasons.into_iter().flatten() {
        let [verdict, reason] =
            [&summary["verdict"], reason].map(|text| text.as_str().unwrap_or_default());
        let _ = writeln!(
            std::io::stderr(),
            "nr-link: this machine did not hold the link ({verdict}): {reason}"
        );
    }
}
