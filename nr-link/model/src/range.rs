// SPDX-License-Identifier: Apache-2.0
//! Values that must lie in a range.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::Nanos;
use crate::problem::{Problem, violation};

/// Returns the value if the range holds it; no range holds NaN.
///
/// # Errors
/// The range does not hold the value of `key`.
pub fn within<V: PartialOrd + Display>(
    key: &str,
    value: V,
    range: RangeInclusive<V>,
    fix: &str,
) -> Result<V, Problem> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (range.start(), range.end());
    Err(violation!("{value} is not between {least} and {most}", "{fix}").at_key(key))
}

/// Converts a time from ms. The limit is one hour: no path, timer or sample interval is longer.
pub(crate) fn nanos(key: &str, ms: f64) -> Result<Nanos, Problem> {
    let ms = within(key, ms, 0.0..=3.6e6, "Write a time in ms, at most one hour")?;
    Ok((ms * 1e6).round() as Nanos)
}
