// SPDX-License-Identifier: Apache-2.0
//! Radio link monitoring (TS 38.133 clause 8.1, TS 38.331 clause 5.3.10): the UE compares the link with the SINR of a
//! hypothetical PDCCH, counts what layer 1 indicates, and gives up when T310 expires.

use std::collections::VecDeque;

use crate::Nanos;
use crate::config::LinkFailure;
use crate::radio::decibel::{from_ratio, to_ratio};

/// The interval of indications: a radio frame.
const INTERVAL: Nanos = 10_000_000;
/// Frames over which out-of-sync and in-sync are evaluated: 200 ms and 100 ms (TS 38.133 clause 8.1.2.2).
const OUT_FRAMES: usize = 20;
const IN_FRAMES: usize = 10;

#[derive(Debug)]
pub(super) struct LinkMonitor {
    limits: LinkFailure,
    next: Nanos,
    /// SINRs of the last frames, ratios, the latest last.
    frames: VecDeque<f64>,
    out_of_sync: u32,
    in_sync: u32,
    /// When T310 expires, while it runs.
    expires: Option<Nanos>,
}

impl LinkMonitor {
    pub fn new(limits: LinkFailure) -> Self {
        Self {
            limits,
            next: 0,
            frames: VecDeque::with_capacity(OUT_FRAMES),
            out_of_sync: 0,
            in_sync: 0,
            expires: None,
        }
    }

    /// Starts over in a new cell.
    pub fn restart(&mut self) {
        let next = self.next;
        *self = Self {
            next,
            ..Self::new(self.limits)
        };
    }

    /// Measures at `now` if it is time; returns whether T310 has expired.
    pub fn run(&mut self, now: Nanos, sinr_db: impl FnOnce() -> f64) -> bool {
        if self.expires.is_some_and(|expires| expires <= now) {
            return true;
        }
        if now < self.next {
            return false;
        }
        self.next = now + INTERVAL;
        if self.frames.len() == OUT_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(to_ratio(sinr_db()));
        self.indicate(now);
        false
    }

    fn indicate(&mut self, now: Nanos) {
        let out =
            self.frames.len() == OUT_FRAMES && self.mean_db(OUT_FRAMES) < self.limits.q_out_db;
        let back = self.frames.len() >= IN_FRAMES && self.mean_db(IN_FRAMES) > self.limits.q_in_db;
        self.out_of_sync = if out { self.out_of_sync + 1 } else { 0 };
        self.in_sync = if back { self.in_sync + 1 } else { 0 };
        if self.expires.is_none() && self.out_of_sync >= self.limits.n310 {
            self.expires = Some(now + self.limits.t310);
        } else if self.in_sync >= self.limits.n311 {
            self.expires = None;
        }
    }

    fn mean_db(&self, frames: usize) -> f64 {
        let sum: f64 = self.frames.iter().rev().take(frames).sum();
        from_ratio(sum / frames as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn limits() -> LinkFailure {
        LinkFailure {
            n310: 10,
            n311: 1,
            t310: 1000 * MS,
            t304: 1000 * MS,
            t311: 1000 * MS,
            reestablishment: 0,
            q_out_db: -8.0,
            q_in_db: -6.0,
        }
    }

    /// A link at 0 dB that is lost at 1 s. The mean of 20 frames is below −8 dB (0.158) when 17 of them are lost, at
    /// 1.16 s; the tenth indication comes at 1.25 s, and T310 expires at 2.25 s.
    #[test]
    fn t310_expires_after_n310_indications() {
        let mut monitor = LinkMonitor::new(limits());
        let failed = (0..3000)
            .map(|ms| ms * MS)
            .find(|&now| monitor.run(now, || if now < 1000 * MS { 0.0 } else { -60.0 }));
        assert_eq!(failed, Some(2250 * MS));
    }

    #[test]
    fn one_in_sync_indication_stops_t310() {
        let mut monitor = LinkMonitor::new(limits());
        let lost = |now: Nanos| (1000 * MS..2000 * MS).contains(&now);
        let failed = (0..4000)
            .map(|ms| ms * MS)
            .find(|&now| monitor.run(now, || if lost(now) { -60.0 } else { 0.0 }));
        assert_eq!(failed, None);
    }
}
