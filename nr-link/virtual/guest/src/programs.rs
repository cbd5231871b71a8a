// SPDX-License-Identifier: Apache-2.0
//! Programs of the user, each on one of the hosts.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Gid, Pid, Uid, setgroups, setresgid, setresuid};
use nr_link_virtual_plan::{GUEST_PLANE, GUEST_PLANES, GUEST_STREAMS, Program as Plan, Report};

use crate::clock::{Nanos, nanos};
use crate::hosts::Hosts;
use crate::reports;

const CONSOLE: &str = "/dev/console";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Services have 2 s to end.
const SERVICE_LOOKS: u32 = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// A program that was started.
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    plan: Plan,
    /// Takes changes of its parameters.
    input: Option<ChildStdin>,
}

impl Running {
    /// Takes note of a child.
    fn new(mut child: Child, plan: Plan) -> Self {
        Self {
            pid: Pid::from_raw(child.id() as i32),
            input: child.stdin.take(),
            plan,
        }
    }
}

/// All programs of a run.
#[derive(Debug)]
pub struct Programs {
    waiting: Vec<(Nanos, Plan)>,
    running: Vec<Running>,
}

impl Programs {
    /// Makes the programs of a run whose second 0 is `start`; `policies` run already.
    pub fn new(plans: &[Plan], policies: Vec<Running>, start: Nanos) -> Self {
        let begin = |plan: &Plan| (start + nanos(plan.start_s), plan.clone());
        let later = |plan: &&Plan| plan.policy_of.is_none() || plan.start_s > 0.0;
        let others = plans.iter().filter(later);
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
            self.running.push(begin(&plan, hosts)?);
        }
        Ok(())
    }

    /// Gives the policy of a congestion control other values of these parameters.
    pub fn change_policy(&mut self, cc: &str, parameters: &BTreeMap<String, String>) -> Result<()> {
        let own = |running: &&mut Running| running.plan.policy_of.as_deref() == Some(cc);
        let running = self.running.iter_mut().find(own);
        let running = running.and_then(|running| Some((running.pid, running.input.as_mut()?)));
        let (pid, input) = running.with_context(|| format!("the policy {cc} does not run"))?;
        let mut line = serde_json::to_vec(parameters)?;
        line.push(b'\n');
        input
            .write_all(&line)
            .with_context(|| format!("the policy {cc} takes no changes"))?;
        // Waiting for its input beside its reports would take other times than without changes.
        kill(pid, Signal::SIGUSR1).with_context(|| format!("the policy {cc} does not run"))
    }

    /// Takes note of those that have ended.
    pub fn reap(&mut self) -> Result<()> {
        let any = Pid::from_raw(-1);
        loop {
            let Ok(Some((pid, code))) = ended(any) else {
                return Ok(());
            };
            let ended = self.running.iter().position(|own| own.pid == pid);
            if let Some(ended) = ended {
                let name = self.running.swap_remove(ended).plan.name;
                reports::send(&Report::Program { name, code })?;
            }
        }
    }

    /// Whether only services still run.
    pub fn over(&self) -> bool {
        let mut plans = self.plans();
        plans.all(|plan| plan.service)
    }

    /// The names of those that are not over.
    pub fn running(&self) -> impl Iterator<Item = &str> {
        let plans = self.plans().filter(|plan| !plan.service);
        plans.map(|plan| plan.name.as_str())
    }

    fn plans(&self) -> impl Iterator<Item = &Plan> {
        let waiting = self.waiting.iter().map(|(_, plan)| plan);
        waiting.chain(self.running.iter().map(|running| &running.plan))
    }

    /// Ends those that run until everything else has ended.
    pub fn end_services(&mut self) -> Result<()> {
        for Running { pid, .. } in &self.running {
            let _ = kill(*pid, Signal::SIGTERM); // it may just have ended
            let _ = kill(*pid, Signal::SIGCONT); // it may have been stopped
        }
        let mut looks = SERVICE_LOOKS;
        for Running { pid, plan, .. } in self.running.drain(..) {
            let code = end(pid, &mut looks)?;
            let name = plan.name;
            reports::send(&Report::Program { name, code })?;
        }
        Ok(())
    }
}

/// Waits for a service that has been asked to end; kills it once there are no looks left. Returns its exit code.
fn end(pid: Pid, looks: &mut u32) -> Result<i32> {
    loop {
        if let Some((_, code)) = ended(pid).context("waiting for a service")? {
            return Ok(code);
        }
        match *looks {
            0 => {
                let _ = kill(pid, Signal::SIGKILL);
            }
            _ => *looks -= 1,
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// A child that has ended, and its exit code, without waiting. nix has no words for real-time signals.
fn ended(pid: Pid) -> nix::Result<Option<(Pid, i32)>> {
    let mut status = 0;
    // SAFETY: the kernel writes one number.
    let found = unsafe { libc::waitpid(pid.as_raw(), &raw mut status, libc::WNOHANG) };
    let found = Errno::result(found)?;
    let code = match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => 128 + libc::WTERMSIG(status),
    };
    Ok((found > 0).then(|| (Pid::from_raw(found), code)))
}

/// Starts a program; a policy registers its congestion control before, and is waited for until it is ready.
///
/// # Errors
/// It cannot be started; a name that the kernel has; a policy that ends first, with the reason that it printed.
pub fn begin(plan: &Plan, hosts: &Hosts) -> Result<Running> {
    let Some(name) = &plan.policy_of else {
        return Ok(Running::new(start(plan, hosts)?, plan.clone()));
    };
    fs::write(GUEST_PLANES, name)
        .with_context(|| format!("congestion control {name}: the kernel refuses this name"))?;
    give_files(name, plan)?;
    let mut child = start(plan, hosts)?;
    let mut said = String::new();
    if let Some(mut output) = child.stdout.take() {
        let read = output.read_to_string(&mut said); // it closes its output once it is ready
        read.with_context(|| format!("program {}", plan.name))?;
    }
    if !said.contains("\"ready\"") {
        bail!(
            "congestion control {name}: its policy ended before it was ready: {}",
            said.trim()
        );
    }
    Ok(Running::new(child, plan.clone()))
}

/// Gives the policy's user the files by which it hears of its flows and commands them.
fn give_files(name: &str, plan: &Plan) -> Result<()> {
    let Some((user, group)) = plan.user else {
        return Ok(());
    };
    for file in ["reports", "commands"] {
        let file = format!("/proc/nr-link/{GUEST_PLANE}{name}/{file}");
        chown(&file, Some(user), Some(group)).context(file)?;
    }
    Ok(())
}

fn start(plan: &Plan, hosts: &Hosts) -> Result<Child> {
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
    let is_policy = plan.policy_of.is_some();
    // SAFETY: between fork and exec only the kernel is called.
    unsafe {
        command.pre_exec(move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            SigSet::all().thread_unblock()?;
            if is_policy {
                go_first()?;
            }
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

/// Goes before ordinary programs: a late command is a wrong one. A user alone has no right to this, and a
/// policy's answers must not depend on who runs it.
fn go_first() -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameter is whole.
    Errno::result(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) })?;
    Ok(())
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
    let input = match plan.takes_changes {
        true => Stdio::piped(),
        false => Stdio::null(),
    };
    Ok([input, output, console()?])
}
