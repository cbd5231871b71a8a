// SPDX-License-Identifier: Apache-2.0
//! Capacity without a radio channel: which kinds of rates there are, and how a scenario names them.
//!
//! Each kind is a file of `capacity/` with its keys, their rules and its [`Generator`]. To add one,
//! write its file and its line in the list below.

mod constant;
mod drawn;
pub mod trace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::Data;
use super::{NonNegative, Series};
use crate::Direction;
use crate::problem::{Problem, Violation};
use drawn::Drawn;
use trace::CapacityTrace;

/// The capacity of each direction.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Server to UE.
    pub dl: Rate,
    /// UE to server.
    pub ul: Rate,
}

/// The capacity of one direction over one cycle.
#[derive(Debug)]
pub(crate) enum Curve {
    /// Rates, each with its start: s, Mbit/s.
    Rates(Vec<(f64, f64)>),
    /// Time stamps in ms, ascending, each with the number of opportunities until then.
    Opportunities(Vec<(u32, u64)>),
}

/// A kind of rate, with its settings as written.
trait Generator {
    /// Checks the rules that concern several keys.
    fn check(&self, _duration_s: f64) -> Result<(), Violation> {
        Ok(())
    }

    /// Returns what may be in a file.
    fn data(&mut self) -> Option<Data<'_>> {
        None
    }

    /// Returns whether each seed has a curve of its own.
    fn depends_on_seed(&self) -> bool {
        false
    }

    /// Makes the curve of one direction of the link with `seed`.
    fn curve(&self, duration_s: f64, seed: u64, direction: Direction) -> Result<Curve, Problem>;
}

macro_rules! rates {
    ($($(#[$doc:meta])* $kind:ident($settings:ty)),* $(,)?) => {
        /// A rate over time.
        #[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Rate {
            $($(#[$doc])* $kind($settings)),*
        }

        impl Rate {
            fn generator(&self) -> &dyn Generator {
                match self {
                    $(Self::$kind(settings) => settings),*
                }
            }

            pub(super) fn data(&mut self) -> Option<Data<'_>> {
                match self {
                    $(Self::$kind(settings) => settings.data()),*
                }
            }
        }
    };
}

rates! {
    /// A constant rate, Mbit/s.
    ConstantMbps(NonNegative),
    /// Mbit/s that hold from each time stamp to the next; the first time stamp is 0.
    StepsMbps(Series),
    /// Rates drawn from the seed by statistics of measured links.
    Drawn(Drawn),
    /// Delivery opportunities or rates from a file.
    Trace(CapacityTrace),
}

impl Capacity {
    pub(super) fn check(&self, duration_s: f64) -> Result<(), Problem> {
        for (key, rate) in [("capacity.dl", &self.dl), ("capacity.ul", &self.ul)] {
            let checked = rate.generator().check(duration_s);
            checked.map_err(|violation| violation.at_key(key))?;
        }
        Ok(())
    }

    /// Returns whether each seed has a capacity of its own.
    pub(crate) fn depends_on_seed(&self) -> bool {
        self.dl.generator().depends_on_seed() || self.ul.generator().depends_on_seed()
    }

    /// Makes the curve of one direction of the link with `seed`.
    pub(crate) fn curve(
        &self,
        duration_s: f64,
        seed: u64,
        direction: Direction,
    ) -> Result<Curve, Problem> {
        let rate = match direction {
            Direction::Downlink => &self.dl,
            Direction::Uplink => &self.ul,
        };
        rate.generator().curve(duration_s, seed, direction)
    }
}
