// SPDX-License-Identifier: Apache-2.0
//! The first program of the kernel in virtual time: makes the hosts, runs the traffic, reports, and
//! powers the kernel off.
//!
//! One thread holds both ends of every flow. A switch between processes is what costs a User Mode Linux
//! most, and one thread does everything in the same order each time.

mod changes;
mod clock;
mod flow;
mod hosts;
mod modules;
mod policies;
mod programs;
mod reports;
mod socket;
mod tcp;
mod traffic;
mod udp;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nr_link_virtual_plan::{GUEST_PLAN, Report, Run};

use hosts::Hosts;

const SHARED_MEMORY: &str = "/dev/shm";

fn main() {
    std::panic::set_hook(Box::new(|panic| end(Err(anyhow::anyhow!("{panic}")))));
    end(run());
}

fn run() -> Result<()> {
    // Or the kernel would let us wake up to 50 µs late, to wake less often.
    nix::sys::prctl::set_timerslack(1).context("PR_SET_TIMERSLACK")?;
    mount_file_systems()?;
    let plan = std::fs::read(GUEST_PLAN).context(GUEST_PLAN)?;
    let run: Run = serde_json::from_slice(&plan).context(GUEST_PLAN)?;
    show_folders(&run)?;
    let hosts = Hosts::make(&run)?;
    reports::send(&hosts.ready()?)?;
    traffic::run(&run, &hosts)
}

/// Powers off, after saying why if something failed.
fn end(outcome: Result<()>) -> ! {
    if let Err(error) = outcome {
        let reason = format!("{error:#}");
        if reports::send(&Report::Failed { reason }).is_err() {
            eprintln!("nr-link-guest: {error:#}");
        }
    }
    let _ = reboot(RebootMode::RB_POWER_OFF);
    std::process::exit(1) // not the first program of a kernel of ours
}

/// Mounts what programs expect besides the host's files.
///
/// These are mounted again without access times: to write one takes the kernel time, some seconds after a file
/// was read, and whether it is written depends on when the host read that file last.
fn mount_file_systems() -> Result<()> {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_NOATIME;
    mount(none, "/", none, flags, none).context("mounting /")?;
    let mount = |kind: &str, place: &str| {
        mount(Some(kind), place, Some(kind), MsFlags::empty(), none)
            .with_context(|| format!("mounting {place}"))
    };
    mount("proc", "/proc")?;
    mount("sysfs", "/sys")?;
    mount("devtmpfs", "/dev")?;
    std::fs::create_dir_all(SHARED_MEMORY).context(SHARED_MEMORY)?;
    mount("tmpfs", SHARED_MEMORY)
}

/// Mounts the host's folders of modules and programs that the guest's own shared memory hides.
fn show_folders(run: &Run) -> Result<()> {
    let later = run.changes.iter().flat_map(|change| &change.modules);
    let modules = run.modules.iter().chain(later);
    let modules = modules.filter_map(|module| module.parent());
    let programs = run.programs.iter().map(|program| program.folder.as_path());
    let folders: BTreeSet<&Path> = modules.chain(programs).collect();
    for folder in folders {
        if folder.starts_with(SHARED_MEMORY) {
            let shown = || folder.display().to_string();
            std::fs::create_dir_all(folder).with_context(shown)?;
            let (kind, flags) = (Some("hostfs"), MsFlags::MS_NOATIME);
            mount(kind, folder, kind, flags, Some(folder)).with_context(shown)?;
        }
    }
    Ok(())
}
