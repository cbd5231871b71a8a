// SPDX-License-Identifier: Apache-2.0
//! Policies: programs of the user that decide for a congestion control, through the kernel's plane.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::chown;

use anyhow::{Context, Result, bail};
use nix::unistd::Pid;
use nr_link_virtual_plan::{GUEST_PLANE, GUEST_PLANES, Program, Report};

use crate::hosts::Hosts;
use crate::programs;
use crate::reports;

const GUEST_FOLDER: &str = "/proc/nr-link";

/// Registers each policy's congestion control, starts the policy, and waits until it is ready.
///
/// # Errors
/// A name that the kernel has; a policy that ends first, with the reason that it printed.
pub fn start(plans: &[Program], hosts: &Hosts) -> Result<Vec<(Pid, Program)>> {
    let mut running = Vec::new();
    for (name, plan) in policies(plans) {
        fs::write(GUEST_PLANES, name)
            .with_context(|| format!("congestion control {name}: the kernel refuses this name"))?;
        give_files(name, plan)?;
        let mut child = programs::start(plan, hosts)?;
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
        running.push((Pid::from_raw(child.id() as i32), plan.clone()));
    }
    Ok(running)
}

/// Gives the policy's user the files by which it hears of its flows and commands them.
fn give_files(name: &str, plan: &Program) -> Result<()> {
    let Some((user, group)) = plan.user else {
        return Ok(());
    };
    for file in ["reports", "commands"] {
        let file = format!("{GUEST_FOLDER}/{GUEST_PLANE}{name}/{file}");
        chown(&file, Some(user), Some(group)).context(file)?;
    }
    Ok(())
}

/// Reports what the kernel counted for each policy.
///
/// # Errors
/// The kernel's counters cannot be read.
pub fn report(plans: &[Program]) -> Result<()> {
    for (name, _) in policies(plans) {
        let file = format!("{GUEST_FOLDER}/{GUEST_PLANE}{name}/counters");
        let text = fs::read(&file).with_context(|| file.clone())?;
        let counters: BTreeMap<String, u64> = serde_json::from_slice(&text).context(file)?;
        let cc = name.to_owned();
        reports::send(&Report::Policy { cc, counters })?;
    }
    Ok(())
}

fn policies(plans: &[Program]) -> impl Iterator<Item = (&str, &Program)> {
    plans
        .iter()
        .filter_map(|plan| Some((plan.policy_of.as_deref()?, plan)))
}
