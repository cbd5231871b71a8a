// SPDX-License-Identifier: Apache-2.0
//! Changes of the hosts while the traffic runs.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Context, Result};
use nr_link_virtual_plan::{Change, Report};

use crate::clock::{self, Nanos, nanos};
use crate::flow::Flow;
use crate::modules;
use crate::programs::Programs;
use crate::reports;

/// Changes in order of time.
#[derive(Debug)]
pub struct Changes {
    waiting: VecDeque<(Nanos, Change)>,
}

impl Changes {
    /// Takes the changes of a run whose second 0 is `start`.
    pub fn new(plans: &[Change], start: Nanos) -> Self {
        let due = |plan: &Change| (start + nanos(plan.at_s), plan.clone());
        Self {
            waiting: plans.iter().map(due).collect(),
        }
    }

    /// When the next one is due.
    pub fn due(&self) -> Option<Nanos> {
        self.waiting.front().map(|&(due, _)| due)
    }

    /// Makes those that are due, after the programs of that time have started.
    ///
    /// # Errors
    /// The kernel refuses a module, a parameter or a congestion control.
    pub fn run(
        &mut self,
        now: Nanos,
        programs: &mut Programs,
        flows: &mut [Option<Box<dyn Flow>>],
    ) -> Result<()> {
        while self.due().is_some_and(|due| due <= now) {
            if let Some((_, change)) = self.waiting.pop_front() {
                let at_s = change.at_s;
                make(&change, programs, flows).with_context(|| format!("change at {at_s} s"))?;
            }
        }
        Ok(())
    }
}

fn make(
    change: &Change,
    programs: &mut Programs,
    flows: &mut [Option<Box<dyn Flow>>],
) -> Result<()> {
    let loaded = modules::load(&change.modules, &change.module_parameters)?;
    modules::set_parameters(&change.module_parameters, &loaded)?;
    for (cc, parameters) in &change.policy_parameters {
        programs.change_policy(cc, parameters)?;
    }
    let mut ccs = BTreeMap::new();
    if let Some(cc) = &change.cc {
        for flow in flows.iter_mut().flatten() {
            ccs.extend(flow.change_cc(cc)?);
        }
    }
    reports::send(&Report::Changed {
        utc_ns: clock::utc()? as i64,
        ccs,
    })
}
