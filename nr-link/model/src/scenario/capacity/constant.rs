// SPDX-License-Identifier: Apache-2.0
//! A constant rate, and steps between rates.

use super::{Curve, Generator};
use crate::Direction;
use crate::problem::{Problem, Violation, violation};
use crate::scenario::data::Data;
use crate::scenario::{MOST_MBPS, NonNegative, Series};

impl Generator for NonNegative {
    fn check(&self, _duration_s: f64) -> Result<(), Violation> {
        check_rate(self.get(), 0.0)
    }

    fn curve(&self, _duration_s: f64, _seed: u64, _direction: Direction) -> Result<Curve, Problem> {
        Ok(Curve::Rates(vec![(0.0, self.get())]))
    }
}

impl Generator for Series {
    fn data(&mut self) -> Option<Data<'_>> {
        Some(Data::Series(self, check_rates))
    }

    fn curve(&self, _duration_s: f64, _seed: u64, _direction: Direction) -> Result<Curve, Problem> {
        let steps = self.points().iter().map(|step| (step.t_s, step.value));
        Ok(Curve::Rates(steps.collect()))
    }
}

/// Checks a series of rates, Mbit/s.
fn check_rates(steps: &Series) -> Result<(), Violation> {
    let points = steps.points();
    if points[0].t_s != 0.0 {
        return Err(violation!(
            "the first step is not at 0 s",
            "Begin with the rate at 0 s"
        ));
    }
    points
        .iter()
        .try_for_each(|point| check_rate(point.value, point.t_s))
}

/// Checks a rate that holds from `t_s` on.
fn check_rate(mbps: f64, t_s: f64) -> Result<(), Violation> {
    if mbps < 0.0 {
        Err(violation!(
            "{mbps} Mbit/s at {t_s} s is negative",
            "Write 0 for an outage"
        ))
    } else if mbps > MOST_MBPS {
        Err(violation!(
            "{mbps} Mbit/s at {t_s} s is more than {MOST_MBPS}",
            "Write a rate in Mbit/s"
        ))
    } else {
        Ok(())
    }
}
