// SPDX-License-Identifier: Apache-2.0
//! Resolves what changes while the link runs.

use super::{path, queue};
use crate::Nanos;
use crate::config::raw;
use crate::config::{Change, PathConfig, PerDirection, RadioConfig};
use crate::problem::{Problem, violation};
use crate::range::within;
use crate::yaml::Lined;

/// Programs that make traffic count a day at most.
const LONGEST_S: f64 = 86_400.0;

/// Resolves the changes of a link whose path begins as `before`.
pub(super) fn changes(
    raw: Vec<Lined<raw::Change>>,
    before: &PerDirection<PathConfig>,
    radio: Option<&RadioConfig>,
    mtu_bytes: u32,
) -> Result<Vec<Change>, Problem> {
    let mut changes: Vec<Change> = Vec::with_capacity(raw.len());
    for Lined(line, value) in raw {
        let last = changes.last().map_or(0, |change| change.at);
        let change =
            change(value, before, radio, mtu_bytes).and_then(|change| in_order(last, change));
        changes.push(change.map_err(|problem| problem.or_in_line(Some(line)))?);
    }
    Ok(changes)
}

fn change(
    raw: raw::Change,
    before: &PerDirection<PathConfig>,
    radio: Option<&RadioConfig>,
    mtu_bytes: u32,
) -> Result<Change, Problem> {
    let path = raw.path.map(|path| both_ways(path, before, mtu_bytes));
    let queue = raw
        .queue
        .map(|queue| queue::both("changes.queue", queue, mtu_bytes));
    Ok(Change {
        at: at(raw.at_s)?,
        path: path.transpose()?,
        queue: queue.transpose()?,
        prb: raw.prb.map(|prb| scheduled(prb, radio)).transpose()?,
    })
}

/// Checks that the primary carrier has so many PRBs, and that they hold an allocation of the gNB's profile.
fn scheduled(prb: u16, radio: Option<&RadioConfig>) -> Result<u16, Problem> {
    let most = radio.map_or(u16::MAX, |radio| radio.carriers[0].prb);
    let gnb = radio.and_then(RadioConfig::gnb);
    let least = gnb.map_or(1, |gnb| gnb.least_prb);
    let fix = "Write at least one allocation of the gNB, and at most the carrier's width, which stays as it is";
    within("changes.prb", prb, least..=most, fix)
}

fn at(seconds: f64) -> Result<Nanos, Problem> {
    let fix = "Write seconds of traffic";
    let seconds = within("changes.at_s", seconds, 0.0..=LONGEST_S, fix)?;
    Ok((seconds * 1e9).round() as Nanos)
}

fn both_ways(
    raw: raw::Both<crate::scenario::PathDirection>,
    before: &PerDirection<PathConfig>,
    mtu_bytes: u32,
) -> Result<PerDirection<PathConfig>, Problem> {
    let changed = PerDirection {
        dl: path::path("changes.path.dl", raw.dl, mtu_bytes)?,
        ul: path::path("changes.path.ul", raw.ul, mtu_bytes)?,
    };
    // What waits in the line already has its time.
    if changed.dl.line == before.dl.line && changed.ul.line == before.ul.line {
        return Ok(changed);
    }
    Err(violation!(
        "the path's rate, queue and cross traffic stay as they are",
        "Write those of path, or change only delay_ms, loss_ratio and bit_error_ratio"
    )
    .at_key("changes.path"))
}

fn in_order(last: Nanos, change: Change) -> Result<Change, Problem> {
    if change.at >= last {
        return Ok(change);
    }
    let at_s = change.at as f64 / 1e9;
    let rule = violation!(
        "{at_s} s is earlier than the change before it",
        "Write changes in order of time"
    );
    Err(rule.at_key("changes.at_s"))
}
