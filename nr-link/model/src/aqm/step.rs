// SPDX-License-Identifier: Apache-2.0
//! A step threshold: every ECN-capable packet above it is marked with CE, none below it. Senders with a scalable
//! congestion control (DCTCP, Prague) respond to the ratio of marked packets, so that the queue stays at the threshold.
//!
//! The threshold is a wait, which a packet must have exceeded when it is sent (as the step of Linux's dualpi2 and the
//! `ce_threshold` of its fq_codel), or a number of packets, which a packet finds on arrival (K of RFC 8257 section 3.1).
//! A packet that waits alone is not marked: it waits for the radio, not for other packets (RFC 9332 appendix A.1:
//! Th_len). Packets that are not ECN-capable pass; only the limit of the buffer drops them.

use serde::{Deserialize, Serialize};

use super::manager::{Action, CLASSIC, Head, Occupancy, QueueManager};
use super::settings::MS;
use crate::Nanos;
use crate::problem::{Problem, violation};
use crate::random::Stream;
use crate::range::{nanos, within};

/// The threshold above which packets are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The wait of a packet when its first byte is sent.
    Wait(Nanos),
    /// The number of packets that an arriving packet finds.
    Packets(u64),
}

/// The settings as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    threshold_ms: Option<f64>,
    threshold_packets: Option<u64>,
    ecn: bool,
}

/// The default threshold: the step of Linux's dualpi2 (`step_thresh`).
const THRESHOLD_MS: f64 = 1.0;

impl Default for Raw {
    fn default() -> Self {
        Self {
            threshold_ms: None,
            threshold_packets: None,
            ecn: true,
        }
    }
}

impl Raw {
    pub fn resolve(self, key: &str) -> Result<Step, Problem> {
        let problem = match (self.threshold_ms, self.threshold_packets) {
            _ if !self.ecn => violation!(
                "a step threshold marks packets and never drops them",
                "Leave out ecn, or choose another AQM"
            ),
            (Some(_), Some(_)) => violation!(
                "a step has one threshold",
                "Write one of threshold_ms and threshold_packets"
            ),
            (None, Some(0)) => violation!(
                "a threshold of 0 packets marks all packets",
                "Write at least 1"
            ),
            (None, Some(packets)) => return Ok(Step::Packets(packets)),
            (ms, None) => {
                let fix = "Write a threshold_ms in that range; 1 is usual";
                let ms = within(key, ms.unwrap_or(THRESHOLD_MS), MS, fix)?;
                return nanos(key, ms).map(Step::Wait);
            }
        };
        Err(problem.at_key(key))
    }
}

impl Step {
    pub(super) fn manager(self, _draws: Stream) -> Box<dyn QueueManager> {
        Box::new(self)
    }
}

impl QueueManager for Step {
    fn on_arrival(&mut self, buffer: &Occupancy) -> Action {
        let waiting = buffer.heads[CLASSIC].map_or(0, |head| head.packets as u64);
        match *self {
            Self::Packets(threshold) if waiting >= threshold => Action::MarkOrPass,
            _ => Action::Pass,
        }
    }

    fn at_head(&mut self, head: Head, _queue: usize, buffer: &Occupancy) -> Action {
        match *self {
            Self::Wait(threshold) if head.packets > 1 && buffer.now - head.queued > threshold => {
                Action::MarkOrPass
            }
            _ => Action::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Returns the decision about the first of so many packets, which has waited for `wait`.
    fn at_head(step: Step, wait: Nanos, packets: usize) -> Action {
        let head = Head {
            queued: 100 * MS,
            bytes: 1500,
            packets,
        };
        let mut step = step;
        step.at_head(head, CLASSIC, &occupancy(head, head.queued + wait))
    }

    fn occupancy(head: Head, now: Nanos) -> Occupancy {
        Occupancy {
            now,
            heads: [Some(head), None],
            bytes: 1500 * head.packets as u64,
            share: 0.5,
            mtu_bytes: 1500,
        }
    }

    #[test]
    fn it_marks_every_packet_above_the_wait_and_none_at_or_below() {
        let step = Step::Wait(MS);
        assert_eq!(at_head(step, MS, 9), Action::Pass);
        assert_eq!(at_head(step, MS + 1, 9), Action::MarkOrPass);
        assert_eq!(at_head(step, MS + 1, 1), Action::Pass); // alone
    }

    #[test]
    fn a_number_of_packets_counts_those_that_an_arriving_packet_finds() {
        let mut step = Step::Packets(3);
        let mut arrives = |packets| {
            let head = Head {
                queued: 0,
                bytes: 1500,
                packets,
            };
            step.on_arrival(&occupancy(head, 100 * MS))
        };
        assert_eq!(
            [2, 3, 4].map(&mut arrives),
            [Action::Pass, Action::MarkOrPass, Action::MarkOrPass]
        );
        assert_eq!(at_head(Step::Packets(3), 100 * MS, 9), Action::Pass);
    }
}
