// SPDX-License-Identifier: Apache-2.0
//! Policies: programs of the user that decide for a congestion control, through the kernel's plane.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nr_link_virtual_plan::{GUEST_PLANE, Program, Report};

use crate::hosts::Hosts;
use crate::programs::{self, Running};
use crate::reports;

/// Starts the policies that start before the traffic.
///
/// # Errors
/// As [`programs::begin`].
pub fn start(plans: &[Program], hosts: &Hosts) -> Result<Vec<Running>> {
    let own = |plan: &&Program| plan.policy_of.is_some() && plan.start_s == 0.0;
    let first = plans.iter().filter(own);
    first.map(|plan| programs::begin(plan, hosts)).collect()
}

/// Reports what the kernel counted for each policy.
///
/// # Errors
/// The kernel's counters cannot be read.
pub fn report(plans: &[Program]) -> Result<()> {
    let names = plans.iter().filter_map(|plan| plan.policy_of.as_deref());
    for name in names {
        let file = format!("/proc/nr-link/{GUEST_PLANE}{name}/counters");
        if !Path::new(&file).exists() {
            continue; // the traffic ended before the policy was to start
        }
        let text = fs::read(&file).with_context(|| file.clone())?;
        let counters: BTreeMap<String, u64> = serde_json::from_slice(&text).context(file)?;
        let cc = name.to_owned();
        reports::send(&Report::Policy { cc, counters })?;
    }
    Ok(())
}
