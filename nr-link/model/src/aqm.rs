// SPDX-License-Identifier: Apache-2.0
//! Active queue management (AQM) of a buffer: which algorithms there are, how a configuration names them, and how one
//! is made.
//!
//! Each algorithm is a file of `aqm/` with its settings as written (`Raw`), its checked settings, and its
//! [`QueueManager`]. To add one, write its file and its line in the list below.

mod codel;
mod dual_pi2;
pub(crate) mod manager;
mod pie;
mod step;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::random::Stream;
use manager::{DropTail, QueueManager};

macro_rules! queue_managers {
    ($($name:literal $summary:literal $module:ident::$settings:ident),* $(,)?) => {
        $(pub use $module::$settings;)*

        /// The name of each algorithm in a configuration, and its summary in a line.
        pub const CATALOGUE: &[(&str, &str)] = &[$(($name, $summary)),*];

        /// The checked settings of one algorithm.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        pub enum Aqm {
            $(#[doc = $summary] $settings($settings)),*
        }

        /// One algorithm and its settings, as written.
        #[derive(Debug, Clone, Copy, Deserialize)]
        pub(crate) enum RawAqm {
            $(#[serde(rename = $name)] $settings($module::Raw)),*
        }

        impl RawAqm {
            /// Checks the settings, which stand below `key`.
            pub fn resolve(self, key: &str) -> Result<Aqm, Problem> {
                match self {
                    $(Self::$settings(raw) => raw.resolve(key).map(Aqm::$settings)),*
                }
            }
        }

        /// Makes the queue management of one buffer; without an algorithm, drop-tail.
        pub(crate) fn queue_manager(aqm: Option<Aqm>, draws: Stream) -> Box<dyn QueueManager> {
            match aqm {
                None => Box::new(DropTail),
                $(Some(Aqm::$settings(settings)) => settings.manager(draws)),*
            }
        }
    };
}

queue_managers! {
    "codel" "CoDel (RFC 8289)" codel::CoDel,
    "pie" "PIE (RFC 8033)" pie::Pie,
    "dualpi2" "DualPI2, two queues for L4S and classic packets (RFC 9332)" dual_pi2::DualPi2,
    "step" "Marks above a threshold of the wait, for DCTCP and L4S (RFC 8257, RFC 9332)" step::Step,
}

/// Ranges and conversions that the settings of several algorithms share.
mod settings {
    use std::ops::RangeInclusive;

    use crate::problem::Problem;
    use crate::range::within;

    /// One microsecond: shorter times have no effect in queue management.
    pub const LEAST_MS: f64 = 1e-3;
    /// Range of times in queue management, ms: up to one hour.
    pub const MS: RangeInclusive<f64> = LEAST_MS..=3.6e6;

    /// Checks the target and the update interval of a proportional-integral controller.
    pub fn target_and_update(
        key: &str,
        target_ms: f64,
        update_ms: f64,
    ) -> Result<(f64, f64), Problem> {
        let target_fix = "Write a target_ms in that range; 15 is usual";
        let update_fix = "Write an update_ms in that range; 15 is usual";
        Ok((
            within(key, target_ms, MS, target_fix)?,
            within(key, update_ms, MS, update_fix)?,
        ))
    }
}
