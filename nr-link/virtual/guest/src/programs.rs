// SPDX-License-Identifier: Apache-2.0
//! Programs of the user, each on one of the hosts.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Gid, Pid, Uid, setgroups, setresgid, setresuid};
use nr_link_virtual_plan::{GUEST_STREAMS, Program as Plan, Report};

use crate::clock::{Nanos, nanos};
use crate::hosts::Hosts;
use crate::reports;

const CONSOLE: &str = "/dev/console";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Services have 2 s to end.
const SERVICE_LOOKS: u32 = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// All programs of a run.
#[derive(Debug)]
pub struct Programs {
    waiting: Vec<(Nanos, Plan)>,
    running: Vec<(Pid, Plan)>,
}

impl Programs {
    /// Makes the programs of a run whose second 0 is `start`; `policies` run already.
    pub fn new(plans: &[Plan], policies: Vec<(Pid, Plan)>, start: Nanos) -> Self {
        let begin = |plan: &Plan| (start + nanos(plan.start_s), plan.clone());
        let others = plans.iter().filter(|plan| plan.policy_of.is_none());
        Self {
            waiting: others.map(begin).collect(),
            running: policies,
        }
    }

    /// When the next one begins.
    pub fn due(&self) -> Option<Nanos> {
        self.waiting.iter().map(|(begin, _)| *begin).min()
    }

    /// Starts those whose time has come.
    pub fn run(&mut self, now: Nanos, hosts: &Hosts) -> Result<()> {
        for (_, plan) in self.waiting.extract_if(.., |(begin, _)| *begin <= now) {
            let child = start(&plan, hosts)?;
            self.running.push((Pid::from_raw(child.id() as i32), plan));
        }
        Ok(())
    }

    /// Takes note of those that have ended.
    pub fn reap(&mut self) -> Result<()> {
        let any = Pid::from_raw(-1);
        loop {
            let (pid, code) = match waitpid(any, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, code),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                _ => return Ok(()),
            };
            let ended = self.running.iter().position(|(own, _)| *own == pid);
            if let Some(ended) = ended {
                let (_, plan) = self.running.swap_remove(ended);
                reports::send(&Report::Program {
                    name: plan.name,
                    code,
                })?;
            }
        }
    }

    /// Whether only services still run.
    pub fn over(&self) -> bool {
        self.waiting.is_empty() && self.running.iter().all(|(_, plan)| plan.service)
    }

    /// Those that are not over, for messages.
    pub fn running(&self) -> impl Iterator<Item = String> {
        let waiting = self.waiting.iter().map(|(_, plan)| plan);
        let running = self.running.iter().map(|(_, plan)| plan);
        waiting
            .chain(running)
            .filter(|plan| !plan.service)
            .map(|plan| format!("program {}", plan.name))
    }

    /// Ends those that run until everything else has ended.
    pub fn end_services(&mut self) -> Result<()> {
        for (pid, _) in &self.running {
            let _ = kill(*pid, Signal::SIGTERM); // it may just have ended
            let _ = kill(*pid, Signal::SIGCONT); // it may have been stopped
        }
        let mut looks = SERVICE_LOOKS;
        for (pid, plan) in self.running.drain(..) {
            let status = end(pid, &mut looks)?;
            let code = match status {
                WaitStatus::Exited(_, code) => code,
                WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
                _ => 0,
            };
            let name = plan.name;
            reports::send(&Report::Program { name, code })?;
        }
        Ok(())
    }
}

/// Waits for a service that has been asked to end; kills it once there are no looks left.
fn end(pid: Pid, looks: &mut u32) -> Result<WaitStatus> {
    loop {
        let status = waitpid(pid, Some(WaitPidFlag::WNOHANG)).context("waiting for a service")?;
        if status != WaitStatus::StillAlive {
            return Ok(status);
        }
        if *looks == 0 {
            let _ = kill(pid, Signal::SIGKILL);
            return waitpid(pid, None).context("waiting for a service");
        }
        *looks -= 1;
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Starts a program.
pub fn start(plan: &Plan, hosts: &Hosts) -> Result<Child> {
    let [input, output, error] = streams(plan)?;
    let mut command = Command::new(&plan.command[0]);
    command
        .args(&plan.command[1..])
        .current_dir(&plan.folder)
        .env_clear()
        .stdin(input)
        .stdout(output)
        .stderr(error);
    match &plan.environment {
        Some(environment) => command.envs(environment),
        None => command
            .env("PATH", PATH)
            .env("HOME", &plan.folder)
            .env("TMPDIR", "/dev/shm"),
    };
    let namespace = hosts.namespace(plan.host).try_clone_to_owned()?;
    let user = plan.user;
    // SAFETY: between fork and exec only the kernel is called.
    unsafe {
        command.pre_exec(move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            SigSet::all().thread_unblock()?;
            user.map_or(Ok(()), become_user)
        });
    }
    let context = || {
        let command = plan.command.join(" ");
        format!(
            "program {}: {command}: cannot be started. Is it installed?",
            plan.name
        )
    };
    command.spawn().with_context(context)
}

/// Gives up all rights but a user's for good: programs that would bring more do not (PR_SET_NO_NEW_PRIVS).
fn become_user((user, group): (u32, u32)) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    setresuid(user, user, user)?;
    set_no_new_privs()?;
    Ok(())
}

/// Standard input, output and error.
fn streams(plan: &Plan) -> Result<[Stdio; 3]> {
    if plan.streams {
        let [input, output, error] = GUEST_STREAMS;
        let write = |path| {
            let file = OpenOptions::new().write(true).open(path);
            file.map(Stdio::from).context(path)
        };
        let input = File::open(input).context(input)?;
        return Ok([input.into(), write(output)?, write(error)?]);
    }
    let console = || {
        let file = OpenOptions::new().read(true).write(true).open(CONSOLE);
        file.map(Stdio::from).context(CONSOLE)
    };
    let output = match &plan.output {
        None if plan.policy_of.is_some() => Stdio::piped(), // it says when it is ready
        Some(path) => File::create(path)
            .with_context(|| path.display().to_string())?
            .into(),
        None => console()?,
    };
    Ok([Stdio::null(), output, console()?])
}
